import { describe, expect, it } from "vitest";
import { checkSite, movePage, openSite, tallyLinks } from "../src/index.ts";
import { type Files, memoryTree } from "./support/memory-tree.ts";

/** Errors and warnings about links and files: place, target and certainty. */
async function reported(files: Files, docsDir = ""): Promise<string[]> {
  const findings = await checkSite(await openSite(memoryTree(files), { docsDir }));
  return findings
    .filter(({ check }) => /^(?:broken|missing|duplicate)-/.test(check))
    .map(({ path, line, message, certainty }) => {
      const target = /`([^`]+)`/.exec(message)?.[1] ?? "";
      return `${path}:${line} ${target} ${certainty ?? "certain"}`;
    });
}

const page = (body: string): string => `# Page\n\n${body}\n`;

describe("a definition", () => {
  const files = (text: string): Files => ({ "mkdocs.yml": "site_name: A\n", "docs/index.md": page(text) });

  it("that no text refers to is not a link", async () => {
    expect(await reported(files("Text.\n\n[old page]: gone.md"))).toEqual([]);
    expect(await reported(files("See the [old\npage].\n\n[old page]: gone.md"))).toEqual([
      "docs/index.md:6 gone.md certain",
    ]);
  });

  it("of Jekyll may be written by a tag", async () => {
    const text = "---\ntitle: A\n---\n[a][X]\n\n[X]: {% link gone.md %}\n";
    expect(await reported({ "_config.yml": "title: x\n", "a.md": text })).toEqual([
      "a.md:6 {% link gone.md %} certain",
    ]);
  });
});

it("reads the links of cards on Hugo, and pages in a folder named `page`", async () => {
  const card =
    '{{< cards >}}\n  {{< card\n    title="A"\n    link="/docs/none" >}}\n  {{< card link="/docs/a/" title="A" >}}\n{{< /cards >}}\n';
  const files = {
    "hugo.yaml": "baseURL: https://a.example/\n",
    "content/_index.md": `---\ntitle: Home\n---\n${card}\n[p](/docs/page/none/) [q](/docs/page/2/)\n`,
    "content/docs/a.md": "---\ntitle: A\n---\n",
    "content/docs/page/b.md": "---\ntitle: B\n---\n",
  };
  expect(await reported(files)).toEqual([
    "content/_index.md:7 /docs/none certain",
    "content/_index.md:11 /docs/page/none/ certain",
  ]);
});

describe("Hugo", () => {
  const site: Files = {
    "hugo.yaml": "baseURL: https://a.example/\npermalinks:\n  blog: /:section/:year/:month/:slug/\n",
    "content/_index.md": "---\ntitle: Home\n---\n[post](/blog/2024/05/hello-world/) [none](/blog/2024/05/other/)\n",
    "content/blog/first/index.md": "---\ntitle: Hello World\ndate: 2024-05-06\n---\nText.\n",
  };

  it("serves posts where `permalinks` says", async () => {
    expect(await reported(site)).toEqual(["content/_index.md:4 /blog/2024/05/other/ certain"]);
  });

  it("resolves links by the site's own render hook, so a missing page is likely", async () => {
    const hook = { "layouts/_default/_markup/render-link.html": "{{ .Destination }}" };
    expect(await reported({ ...site, ...hook })).toEqual(["content/_index.md:4 /blog/2024/05/other/ likely"]);
  });

  it("serves aliases, and draws pages by layouts of their own", async () => {
    const files = {
      ...site,
      "content/_index.md": "---\ntitle: Home\n---\n[a](/old/) [b](/wall/#users) [c](/plain/#users)\n",
      "content/plain.md": "---\ntitle: Plain\naliases: [/old/]\n---\n## One\n",
      "content/wall.md": "---\ntitle: Wall\ntype: wall\n---\n## One\n",
      "layouts/wall/single.html": "{{ .Content }}",
    };
    expect(await reported(files)).toEqual([
      "content/_index.md:4 content/wall.md likely",
      "content/_index.md:4 content/plain.md certain",
    ]);
  });
});

describe("Fumadocs", () => {
  const collections = 'import { defineDocs } from "fumadocs-mdx/config";\n';
  const source = (base: string): Files => ({
    "source.config.ts": `${collections}export const docs = defineDocs({ dir: "content/docs" });\nexport const blog = defineDocs({ dir: "content/posts" });\n`,
    "lib/source.ts": `export const a = loader({ baseUrl: "/docs", source: docs.toFumadocsSource() });\nexport const b = loader({ baseUrl: ${base}, source: blog.toFumadocsSource() });\n`,
    "content/docs/index.mdx": page("[a](/news/first) [b](/news/second) [c](/docs/none)"),
    "content/posts/first.mdx": page("[docs](/docs)"),
  });

  it("serves each collection at the base of its loader", async () => {
    expect(await reported(source('"/news"'))).toEqual([
      "content/docs/index.mdx:3 /news/second certain",
      "content/docs/index.mdx:3 /docs/none certain",
    ]);
  });

  it("is in doubt where code computes a base", async () => {
    expect(await reported(source("baseOf(blog)"))).toEqual(["content/docs/index.mdx:3 /docs/none likely"]);
  });
});

describe("Sphinx", () => {
  const site = (conf: string, body: string): Files => ({
    "conf.py": `extensions = ["myst_parser"${conf}]\n`,
    "index.md": page(body),
    "guide.md": "(my-label)=\n# Guide\n",
    "old.rst": ".. _Old Label:\n\nOld\n===\n",
    "images/a.png": "x",
  });

  it("knows the labels of all pages, and pictures from the top folder", async () => {
    const body = "[a](my-label) {ref}`old label` [b](#my-label) ![p](/images/a.png) ![q](/images/b.png) [c](my-labil)";
    const files = site("", body);
    expect(await reported(files)).toEqual(["index.md:3 /images/b.png likely", "index.md:3 my-labil certain"]);
    expect(await tallyLinks(await openSite(memoryTree(files)))).toMatchObject({ unjudged: 0 });
  });

  it("doubts other names if an extension may define them", async () => {
    const body = "[a](my-labil) [b](package.Class)";
    expect(await reported(site(', "sphinx.ext.autodoc"', body))).toEqual(["index.md:3 my-labil likely"]);
  });
});

describe("Jekyll", () => {
  it("ends an HTML block with its closing tag, so a fence after it is code", async () => {
    const text = "---\ntitle: A\n---\n<div>\n\nText\n\n</div>\n```md\n[a](gone.md)\n```\n\n[b](none.md)\n";
    expect(await reported({ "_config.yml": "title: x\n", "a.md": text })).toEqual(["a.md:13 none.md certain"]);
  });

  it("makes each page a folder with pretty permalinks", async () => {
    const text = "---\ntitle: A\n---\n[here](.) [next](../b/) [none](b/)\n";
    const files = { "_config.yml": "permalink: pretty\n", "a.md": text, "b.md": "---\ntitle: B\n---\n" };
    expect(await reported(files)).toEqual(["a.md:4 b/ certain"]);
  });
});

describe("certain is only what no other file speaks against", () => {
  it("a plugin of Starlight names the base of its pages", async () => {
    const config = 'export default { integrations: [starlight({ plugins: [logs({ base: "changes/log" })] })] }';
    const files = {
      "astro.config.mjs": config,
      "src/content/docs/index.md": page("[a](/changes/log/1-0/) [b](/guides/other/)"),
      "src/content/docs/guides/a.md": page("A"),
    };
    expect(await reported(files)).toEqual([
      "src/content/docs/index.md:3 /changes/log/1-0/ likely",
      "src/content/docs/index.md:3 /guides/other/ certain",
    ]);
  });

  it("a declared language of Starlight without a folder shows the default pages", async () => {
    const config =
      'export default { redirects: { "/fr/a": "/fr/b" }, integrations: [starlight({ locales: { root: {}, fr: {} } })] }';
    const files = { "astro.config.mjs": config, "src/content/docs/b.md": page("Text.") };
    expect(await reported(files)).toEqual([]);
  });

  it("an entry of Nextra's navigation with its own route needs no page", async () => {
    const files = {
      "next.config.js": "nextra({})",
      "pages/_meta.js": 'export default { index: "Home", conf: { title: "Conf", type: "page", route: "/conf/2024" } }',
      "pages/index.mdx": page("Text."),
    };
    expect(await reported(files)).toEqual([]);
  });

  it("a site without pages at its top may redirect to pages of the host", async () => {
    const pages = Array.from({ length: 20 }, (_, n) => [`docs/p${n}.mdx`, page("Text.")]);
    const config = { navigation: [], redirects: [{ source: "/docs/x", destination: "/pricing" }] };
    const files = { "docs.json": JSON.stringify(config), ...Object.fromEntries(pages) };
    expect(await reported(files)).toEqual(["docs.json:1 /docs/x likely"]);
  });

  it("GitBook lists pages in hidden folders", async () => {
    const files = {
      "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Net](langs/.net/README.md)\n",
      "README.md": page("[a](langs/.net/)"),
      "langs/.net/README.md": page("Text."),
    };
    expect(await reported(files)).toEqual([]);
  });

  it("Docsify's aliases serve what their patterns match", async () => {
    const html = "<script>window.$docsify = { alias: {\n '/zh/.*': 'https://a.example/'\n } }</script>";
    const files = { "index.html": html, "_sidebar.md": "- [a](/zh/guide)\n- [b](/en/guide)\n", "README.md": "# A\n" };
    expect(await reported(files)).toEqual(["_sidebar.md:2 /en/guide likely"]);
  });
});

describe("builders resolve in their own way", () => {
  it("Nextra with `trailingSlash` starts relative links below the page", async () => {
    const files = (config: string): Files => ({
      "next.config.js": `nextra({})({ ${config} })`,
      "pages/a.mdx": page("[b](b)"),
      "pages/b.mdx": page("Text."),
    });
    expect(await reported(files(""))).toEqual([]);
    expect(await reported(files("trailingSlash: true"))).toEqual(["pages/a.mdx:3 b certain"]);
  });

  it("Docusaurus finds `/cli/x.md` in the docs folder, wherever that is", async () => {
    const config = "export default { presets: [['classic', { docs: { path: '../docs' } }]] }";
    const files = {
      "website/docusaurus.config.js": config,
      "docs/cli/x.md": page("Text."),
      "docs/a.md": page("[x](/cli/x.md) [y](/cli/y.md)"),
    };
    expect(await reported(files, "website")).toEqual(["docs/a.md:3 /cli/y.md certain"]);
  });

  it("Docusaurus requires the page of `pagination_next`", async () => {
    const files = {
      "docusaurus.config.js": "export default { presets: [['classic', { docs: {} }]] }",
      "docs/a.md": "---\npagination_next: b\npagination_prev: none\n---\n# A\n",
      "docs/b.md": page("Text."),
    };
    expect(await reported(files)).toEqual(["docs/a.md:1 pagination_prev likely"]);
  });

  it("VitePress includes files that are excluded from the pages", async () => {
    const files = {
      ".vitepress/config.js": "export default { srcExclude: ['shared/**'], themeConfig: {} }",
      "index.md": page("<!-- @include: ./shared/part.md -->\n\n[a](#from-part) [b](#none)"),
      "shared/part.md": "## From part\n\n[gone](./gone.md)\n",
    };
    expect(await reported(files)).toEqual(["index.md:5 none certain", "shared/part.md:3 ./gone.md certain"]);
  });

  it("mdBook includes code, Mintlify snippets, and Starlight components: each must exist", async () => {
    const book = { "book.toml": "[book]\n", "src/SUMMARY.md": "[A](a.md)\n", "src/a.md": page("{{#include x.rs}}") };
    expect(await reported(book)).toEqual(["src/a.md:3 x.rs likely"]);
    const mint = {
      "docs.json": '{ "navigation": ["a"] }',
      "a.mdx": page('<Snippet file="part.mdx" />\n\n<Snippet file="none.mdx" />'),
      "snippets/part.mdx": "Text.\n",
    };
    expect(await reported(mint)).toEqual(["a.mdx:5 none.mdx likely"]);
    const star = {
      "astro.config.mjs": "export default { integrations: [starlight({})] }",
      "src/content/docs/a.mdx": `import Box from "../../Box.astro";\nimport Gone from "../../Gone.astro";\n\n${page("Text.")}`,
      "src/Box.astro": "<p/>",
    };
    expect(await reported(star)).toEqual(["src/content/docs/a.mdx:2 ../../Gone.astro likely"]);
  });
});

describe("a move", () => {
  const moved = async (files: Files, from: string, to: string): Promise<Map<string, string>> => {
    const done = await movePage(await openSite(memoryTree(files)), { from, to });
    if (done.kind === "refused") throw new Error(done.reason);
    return new Map([...done.edits].map(([path, bytes]) => [path, Buffer.from(bytes ?? []).toString()]));
  };

  it("on Hugo follows a relative `relref` with a fragment", async () => {
    const files = {
      "hugo.yaml": "baseURL: https://a.example/\n",
      "content/guide/a.md": '---\ntitle: A\n---\n[f]({{< relref "../faq.md#one" >}})\n',
      "content/faq.md": "---\ntitle: F\n---\n## One\n",
    };
    const after = await moved(files, "content/faq.md", "content/answers.md");
    expect(after.get("content/guide/a.md")).toContain('relref "../answers.md#one"');
  });

  it("on Starlight follows redirects to a page that a language shows in the default one", async () => {
    const config =
      'export default { redirects: { "/fr/a": "/fr/b/#one" }, integrations: [starlight({ locales: { root: {}, fr: {} } })] }';
    const files = { "astro.config.mjs": config, "src/content/docs/b.md": page("## One") };
    const after = await moved(files, "src/content/docs/b.md", "src/content/docs/c.md");
    expect(after.get("astro.config.mjs")).toContain('"/fr/a": "/fr/c#one"');
  });
});
