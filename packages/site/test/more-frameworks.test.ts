import { describe, expect, it } from "vitest";
import { checkSite, compareSites, movePage, openSite } from "../src/index.ts";
import { resolveTarget } from "../src/links/resolve.ts";
import { editsOf, memoryTree } from "./support/memory-tree.ts";

interface Sample {
  name: string;
  files: Record<string, string>;
  /** A page, its route, and links to it on the page "start". */
  page: string;
  route: string;
  start: string;
  good: readonly string[];
  /** Links that the builder reports as broken, or that return "not found". */
  bad: readonly string[];
  /** Links that only the build can resolve. */
  unknown: readonly string[];
  moved: string;
}

// Observed in Hugo 0.111.3, Jekyll 4.3.1 and Sphinx 5.3.0 with MyST 0.18.1. For the others, from their own documentation.
const samples: readonly Sample[] = [
  {
    name: "hugo",
    files: {
      "hugo.toml":
        'baseURL = "https://example.org/"\n[[module.mounts]]\nsource = "NEWS.md"\ntarget = "content/NEWS.md"\n',
      "content/_index.md": "---\ntitle: Home\naliases: [/guide/]\n---\n",
      "content/guide/_index.md": "---\ntitle: Guide\n---\n",
      "content/guide/Two words.md": "---\ntitle: Two\naliases: [/old/]\n---\n\n## Here\n",
      "content/lib/tools.md": "---\ntitle: Tools\n---\n",
      "content/start.md": "---\ntitle: Start\n---\n",
    },
    page: "content/guide/Two words.md",
    route: "/guide/two-words/",
    start: "content/start.md",
    good: [
      "/guide/two-words/",
      "../guide/two-words/#here",
      "/old/",
      '{{< ref "guide/Two words.md" >}}',
      '{{< relref "/guide/Two words#here" >}}',
      '{{% ref "Two words.md" %}}',
    ],
    bad: ["missing.md", "/guide/missing/", '{{< ref "missing.md" >}}', '{{< relref "/guide/Two words#nowhere" >}}'],
    unknown: ["NEWS.md", "/lib/", "/tags/x/", "{{< param url >}}"],
    moved: "content/guide/three.md",
  },
  {
    name: "jekyll",
    files: {
      "_config.yml": "title: Docs\nbaseurl: /base\ncollections:\n  docs:\n    permalink: /docs/:path/\n",
      "index.html": "---\n---\n",
      "showcase.html": "---\npermalink: /shown/\n---\n",
      "_docs/guide/keys.md": "---\ntitle: Keys\n---\n\n## Here\n\n## Version 1\n{: #v1}\n",
      "start.md": "---\ntitle: Start\n---\n",
    },
    page: "_docs/guide/keys.md",
    route: "/docs/guide/keys/",
    start: "start.md",
    good: [
      "/docs/guide/keys/",
      "/base/docs/guide/keys#v1",
      "{% link _docs/guide/keys.md %}",
      "{% link _docs/guide/keys.md %}#here",
      "{{ site.baseurl }}/docs/guide/keys/",
      "{{ '/docs/guide/keys/' | relative_url }}",
    ],
    bad: [
      "missing.md",
      "/docs/missing/",
      "{% link _docs/missing.md %}",
      "{{ site.baseurl }}/missing",
      "/docs/guide/keys#v2",
    ],
    unknown: ["/", "/shown/", "/2024/01/01/post.html", "{{ page.url }}"],
    moved: "_docs/guide/tokens.md",
  },
  {
    name: "sphinx",
    files: {
      "docs/conf.py": 'extensions = ["myst_parser"]\nmyst_heading_anchors = 2\nexclude_patterns = ["drafts"]\n',
      "docs/index.md": "# Home\n",
      "docs/api.rst": "API\n===\n",
      "docs/guide/keys.md": "# Keys\n\n(label)=\n## Here\n",
      "docs/drafts/x.md": "[broken](nowhere.md)\n",
      "docs/start.md": "# Start\n",
    },
    page: "docs/guide/keys.md",
    route: "/guide/keys.html",
    start: "docs/start.md",
    good: ["guide/keys.md", "./guide/keys", "/guide/keys.md", "guide/keys.md#here"],
    bad: ["missing.md", "./missing", "/guide/missing", "guide/keys.md#label"],
    unknown: ["project:guide/keys.md", "label", "some/label", "api.rst", "#label"],
    moved: "docs/guide/tokens.md",
  },
  {
    name: "mdbook",
    files: {
      "book.toml": '[book]\nsrc = "book"\n',
      "book/SUMMARY.md": "# Summary\n\n[Introduction](start.md)\n\n- [Keys](guide/keys.md)\n",
      "book/guide/keys.md": "# Keys\n\n## Here\n",
      "book/start.md": "# Start\n",
    },
    page: "book/guide/keys.md",
    route: "/guide/keys",
    start: "book/start.md",
    good: ["guide/keys.md", "guide/keys.html", "./guide/keys.md#here"],
    bad: ["missing.md", "guide/missing.html", "guide/keys.md#nowhere"],
    unknown: ["../std/vec/index.html", "/other-book/"],
    moved: "book/guide/tokens.md",
  },
  {
    name: "docsify",
    files: {
      "docs/index.html": "<script>window.$docsify = { name: 'x' }</script>\n",
      "docs/_sidebar.md": "- [Start](start.md)\n- [Keys](guide/keys.md)\n",
      "docs/README.md": "# Home\n",
      "docs/guide/keys.md": "# Keys\n\n## Here\n",
      "docs/start.md": "# Start\n",
    },
    page: "docs/guide/keys.md",
    route: "/guide/keys",
    start: "docs/start.md",
    good: ["guide/keys.md", "/guide/keys", "guide/keys", "/guide/keys?id=here", "guide/keys?id=here"],
    // Docsify treats the last one as an id on its own page.
    bad: ["missing.md", "/missing", "/guide/keys?id=nowhere", "#/guide/keys"],
    unknown: [],
    moved: "docs/guide/tokens.md",
  },
  {
    name: "fumadocs",
    files: {
      "source.config.ts":
        'import { defineDocs } from "fumadocs-mdx/config";\nexport const docs = defineDocs({ dir: "content/docs" });\n',
      "lib/source.ts": 'export const source = loader({ baseUrl: "/docs" });\n',
      "content/docs/index.mdx": "---\ntitle: Home\n---\n",
      "content/docs/(group)/guide/keys.mdx": "---\ntitle: Keys\n---\n\n## Here\n",
      "content/docs/start.mdx": "---\ntitle: Start\n---\n",
    },
    page: "content/docs/(group)/guide/keys.mdx",
    route: "/docs/guide/keys",
    start: "content/docs/start.mdx",
    good: ["/docs/guide/keys", "/docs/guide/keys#here", "<./(group)/guide/keys.mdx>"],
    bad: ["/docs/missing", "./missing.mdx", "/docs/guide/keys#nowhere"],
    unknown: ["/blog/one", "/"],
    moved: "content/docs/(group)/guide/tokens.mdx",
  },
];

describe.each(samples)("a $name site", ({ name, files, page, route, start, good, bad, unknown, moved }) => {
  const link = (targets: readonly string[]): string => targets.map((target, at) => `- [t${at}](${target})`).join("\n");
  const withLinks = (targets: readonly string[]): Record<string, string> => ({
    ...files,
    [start]: `${files[start]}\n${link(targets)}\n`,
  });

  it("is recognized and has its routes", async () => {
    const site = await openSite(memoryTree(files));
    expect([site.framework, site.index.nodes.get(page)?.route]).toEqual([name, route]);
  });

  it("has no finding where the builder has none", async () => {
    const findings = await checkSite(await openSite(memoryTree(withLinks([...good, ...unknown]))));
    expect(findings.filter(({ severity }) => severity !== "info")).toEqual([]);
  });

  it("finds every broken link", async () => {
    const findings = await checkSite(await openSite(memoryTree(withLinks(bad))));
    expect(findings.filter(({ severity }) => severity === "error").map(({ line }) => line)).toEqual(
      bad.map((_, at) => (files[start] ?? "").split("\n").length + at + 1),
    );
  });

  it("moves a page with the links to it, in the manner they are written", async () => {
    const tree = memoryTree(withLinks(good));
    const before = await openSite(tree);
    const after = tree.with(editsOf(await movePage(before, { from: page, to: moved })));
    expect((await compareSites(before, await openSite(after))).introduced).toEqual([]);
    const opened = await openSite(after);
    const linked = (site: typeof opened): unknown[] =>
      (site.index.nodes.get(start)?.brief.links ?? []).map((target) => {
        const found = resolveTarget(site.index, start, target, "link");
        return found.kind === "page" ? found.path : `${target}: ${found.kind}`;
      });
    expect(linked(before)).toEqual(good.map(() => page));
    expect(linked(opened)).toEqual(opened.index.nodes.get(start)?.brief.links.map(() => moved));
    const openings = good.map((target) => /^\{[{%]\S*/.exec(target)?.[0] ?? "");
    for (const opening of openings) expect(after.text(start)).toContain(opening);
  });
});

it("writes a redirect of a Nextra site where redirects are, and never among its rewrites", async () => {
  const rewrites = "  async rewrites() {\n    return [{ source: '/x', destination: 'https://x.example.com' }]\n  },\n";
  const redirects =
    "  async redirects() {\n    return [\n      { source: '/old', destination: '/guide', permanent: true },\n    ]\n  },\n";
  for (const more of [redirects, ""]) {
    const config = `import nextra from 'nextra'\n\nexport default nextra({})({\n${rewrites}${more}})\n`;
    const tree = memoryTree({
      "next.config.mjs": config,
      "content/index.mdx": "# Home\n\n[g](/guide)\n",
      "content/guide.mdx": "# Guide\n",
    });
    const moved = tree.with(editsOf(await movePage(await openSite(tree), { from: "guide", to: "manual" })));
    expect(moved.text("content/index.mdx")).toContain("[g](/manual)");
    expect(moved.text("next.config.mjs")).toContain(rewrites);
    expect(moved.text("next.config.mjs")?.includes("source: '/guide', destination: '/manual'")).toBe(more !== "");
  }
});
