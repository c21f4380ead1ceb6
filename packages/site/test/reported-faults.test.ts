import { describe, expect, it } from "vitest";
import { addPage, checkSite, fixLinks, movePage, openSite } from "../src/index.ts";
import { editsOf, type Files, memoryTree } from "./support/memory-tree.ts";

/** What is certainly wrong: each target or id that a message names first. */
async function certain(files: Files): Promise<string[]> {
  const findings = await checkSite(await openSite(memoryTree(files)));
  return findings
    .filter(({ certainty, severity }) => certainty === undefined && severity === "error")
    .map(({ message }) => /`([^`]*)`/.exec(message)?.[1] ?? message);
}

describe("Mintlify in a folder `docs`", () => {
  const files: Files = {
    "docs/docs.json": '{ "name": "D", "navigation": { "pages": ["index", "guides/a", "guides/b"] } }',
    "docs/index.mdx": "[a](/docs/guides/a) [b](/docs/guides/b) [gone](/docs/guides/aa)\n",
    "docs/guides/a.mdx": "# A\n",
    "docs/guides/b.mdx": "# B\n",
  };

  it("writes the folder once when a page moves, and when a link is repaired", async () => {
    const tree = memoryTree(files);
    const site = await openSite(tree);
    for (const edits of [
      editsOf(await movePage(site, { from: "docs/guides/b.mdx", to: "docs/keys/b.mdx" })),
      editsOf(await fixLinks(site)),
    ]) {
      expect(tree.with(edits).text("docs/index.mdx")).not.toContain("/docs/docs/");
    }
  });
});

it("is not certain of punctuation in Mintlify's ids, whose rule has changed", async () => {
  const files = {
    "docs.json": '{ "name": "D", "navigation": { "pages": ["index"] } }',
    "index.mdx": "[a](#robotstxt-files) [b](#robots-txt-files) [c](#robots-files)\n\n## robots.txt files\n",
  };
  expect(await certain(files)).toEqual(["robots-files"]);
});

describe("Starlight", () => {
  const site = (config: string, home: string): Files => ({
    "astro.config.mjs": `import starlight from "@astrojs/starlight";\n${config}`,
    "src/content/docs/index.md": `---\ntitle: Home\n---\n\n${home}\n`,
    "src/content/docs/guides/a.md": "---\ntitle: A\n---\n",
  });

  it("has no base from a key of an integration", async () => {
    const config =
      'export default defineConfig({ integrations: [starlight({ title: "T" }), other({ base: "/x" })] });\n';
    expect(await certain(site(config, "[a](/guides/a/) [gone](/guides/gone/)"))).toEqual(["/guides/gone/"]);
  });

  it("is certain of no page in a language whose list is in another file", async () => {
    const config =
      'import { locales } from "./locales";\nexport default defineConfig({ integrations: [starlight({ title: "T", locales })] });\n';
    const files = {
      ...site(config, "[a](/guides/a/)"),
      "src/content/docs/fr/index.md": "---\ntitle: F\n---\n\n[a](/fr/guides/a/)\n",
    };
    expect(await certain(files)).toEqual([]);
  });
});

describe("Nextra", () => {
  it("counts computed redirects as unknown, not as none", async () => {
    const files = {
      "next.config.mjs":
        'import nextra from "nextra";\nimport list from "./redirects.json" with { type: "json" };\nexport default nextra({})({ redirects: () => list });\n',
      "content/index.mdx": "# Home\n\n[old](/old)\n",
    };
    expect(await certain(files)).toEqual([]);
  });
});

describe("Docusaurus", () => {
  const config = (docs: string): string =>
    `module.exports = { presets: [["classic", { docs: { ${docs} }, blog: false }]] };\n`;

  it("adds a page to docs above the site's folder", async () => {
    const files = { "website/docusaurus.config.js": config("path: '../docs'"), "docs/a.md": "# A\n" };
    const site = await openSite(memoryTree(files));
    expect(editsOf(await addPage(site, { path: "docs/b.md", title: "B", content: "# B\n" })).has("docs/b.md")).toBe(
      true,
    );
  });

  it("is certain of no page of a version whose folder the build makes", async () => {
    const files = {
      "docusaurus.config.js": config("sidebarPath: './sidebars.js'"),
      "versions.json": '["2.0", "1.0"]',
      "versioned_docs/version-1.0/a.md": "# A\n\n[gone](/docs/1.0/gone)\n",
      "docs/a.md": "# A\n\n[two](/docs/a) [one](/docs/1.0/a) [b](/docs/b) [next](/docs/next/gone)\n",
    };
    expect((await certain(files)).toSorted()).toEqual(["/docs/1.0/gone", "/docs/next/gone"]);
  });
});

describe("Sphinx", () => {
  it("has nothing above the folder of the sources in a toctree, and takes dotted names for labels", async () => {
    const files = {
      "docs/conf.py": 'extensions = ["myst_parser"]\n',
      "docs/index.md": "# Home\n\n```{toctree}\n../../a\n```\n\n[one](my.label.one)\n",
      "docs/a.md": "(my.label.one)=\n# A\n",
    };
    expect(await certain(files)).toEqual([]);
  });
});

describe("Jekyll", () => {
  it("gives footnotes the ids of kramdown", async () => {
    const files = {
      "_config.yml": "title: T\n",
      Gemfile: "gem 'jekyll'\n",
      "a.md":
        "---\ntitle: A\n---\n\nText[^note].\n\n[to it](#fn:note) [back](#fnref:note) [gone](#fn:none)\n\n[^note]: Words.\n",
    };
    expect(await certain(files)).toEqual(["fn:none"]);
  });
});

it("finds a reference that nothing defines, in every framework", async () => {
  const findings = await checkSite(await openSite(memoryTree({ "a.md": "# A\n\n[text][undefined-label]\n" })));
  expect(findings.map(({ check }) => check)).toContain("text-link");
});
