import { describe, expect, it } from "vitest";
import { checkSite, movePage, openSite } from "../src/index.ts";
import { editsOf, type Files, memoryTree } from "./support/memory-tree.ts";

/** Each finding: its first quoted words, and whether it is certain. */
async function judged(files: Files): Promise<string[]> {
  const findings = await checkSite(await openSite(memoryTree(files)));
  return findings
    .filter(({ check }) => /^(?:broken|missing)-/.test(check))
    .map(({ message, certainty = "certain" }) => `${/`([^`]*)`/.exec(message)?.[1] ?? message} ${certainty}`);
}

const page = (body: string): string => `---\ntitle: T\n---\n\n${body}\n`;
const pages = (folder: string, body: string): Files => ({
  [`${folder}/a.md`]: page(body),
  [`${folder}/b.md`]: page("B"),
});
const docusaurus = (options: string): string =>
  `module.exports = { baseUrl: "/", presets: [["classic", { ${options} }]] };`;
const astro = (starlight = "", more = ""): string =>
  `import starlight from "@astrojs/starlight";\nexport default defineConfig({ ${more} integrations: [starlight({ title: "T" ${starlight} })] });`;
const starlightDocs = "src/content/docs";

const cases: readonly [string, Files, readonly string[]][] = [
  [
    "Docusaurus: the address of the docs is computed",
    { "docusaurus.config.js": docusaurus("docs: { routeBasePath: base() }"), ...pages("docs", "[b](/help/b)") },
    ["/help/b likely"],
  ],
  [
    "Docusaurus: the options are a variable",
    { "docusaurus.config.js": docusaurus("docs, blog: false"), ...pages("docs", "[b](/docs/none)") },
    ["/docs/none likely"],
  ],
  [
    "Docusaurus: the blog has another folder and address",
    {
      "docusaurus.config.js": docusaurus('docs: {}, blog: { path: "posts", routeBasePath: "/" }'),
      ...pages("docs", "[hello](/hello) [b](/docs/none)"),
      "posts/2026-01-01-hello.md": page("Hello"),
      "posts/second.md": "---\nslug: hello\n---\n\n[b](/docs/b)\n",
    },
    ["/docs/none certain"],
  ],
  [
    "Docusaurus: there is no blog",
    {
      "docusaurus.config.js": docusaurus("docs: {}, blog: false"),
      ...pages("docs", "[hello](/blog/hello)"),
      "blog/hello.md": page("Hello"),
    },
    ["/blog/hello likely"],
  ],
  [
    "Docusaurus: a plugin may make the pages of a folder that has none",
    {
      "docusaurus.config.js": `${docusaurus("docs: {}").slice(0, -3)}, plugins: ["docusaurus-plugin-typedoc"] };`,
      ...pages("docs", "[x](./api/x.md) [y](/docs/api/y) [z](./gone.md)"),
    },
    ["./api/x.md likely", "/docs/api/y likely", "./gone.md certain"],
  ],
  [
    "Starlight: the locales are in another file, and the sidebar names pages without one",
    {
      "astro.config.mjs": astro(', locales, defaultLocale: "en", sidebar: [{ slug: "b" }, { slug: "none" }]'),
      ...pages(`${starlightDocs}/en`, "[b](/en/b/)"),
    },
    ["/en/none likely"],
  ],
  [
    "Starlight: other redirects are in another file",
    { "astro.config.mjs": astro("", 'redirects: { ...old, "/x": "/b/" },'), ...pages(starlightDocs, "[b](/none/)") },
    ["/none/ likely"],
  ],
  [
    "Starlight: the pages have a loader of their own",
    {
      "astro.config.mjs": astro(),
      "src/content.config.ts":
        "export const collections = { docs: defineCollection({ loader: docsLoader({ generateId }) }) };",
      ...pages(starlightDocs, "[b](/none/)"),
    },
    ["/none/ likely"],
  ],
  [
    "Starlight: the Markdown processor leaves punctuation as it is",
    {
      "astro.config.mjs": astro("", "markdown: { processor: satteri({ features: { smartPunctuation: false } }) },"),
      ...pages(starlightDocs, "## a -- b\n\n[b](#a----b) [c](#a--b)"),
    },
    ["a--b certain"],
  ],
  [
    "VitePress: the folder of the pages is computed",
    { ".vitepress/config.ts": "export default { srcDir: dir(), themeConfig: {} };", ...pages("src", "[b](/b)") },
    ["/b likely"],
  ],
  [
    "VitePress: settings come from elsewhere",
    { ".vitepress/config.ts": "export default { ...shared, themeConfig: {} };", "a.md": "[b](/none)\n" },
    ["/none likely"],
  ],
  [
    "VitePress: a file stands for many pages",
    {
      ".vitepress/config.ts": "export default { themeConfig: {} };",
      "pkg/[name].md": "# Package\n",
      "a.md": "[x](/pkg/x) [y](/gone/x)\n",
    },
    ["/gone/x likely"],
  ],
  [
    "Nextra: the application serves the pages below a folder, and pages of its own",
    {
      "next.config.mjs": 'import nextra from "nextra";\nexport default nextra({})({});',
      "app/docs/[[...mdxPath]]/page.jsx": "",
      "app/(main)/about/page.jsx": "",
      ...pages("content", "[b](/docs/b) [c](/about) [d](/docs/none)"),
    },
    ["/docs/none certain"],
  ],
  [
    "Fumadocs: the address of the docs is computed",
    {
      "source.config.ts": 'import { defineDocs } from "fumadocs-mdx/config";\nexport const docs = defineDocs();',
      "lib/source.ts": "export const source = loader({ baseUrl: base(), source: docs });",
      ...pages("content/docs", "[b](/docs/none)"),
    },
    ["/docs/none likely"],
  ],
  [
    "MkDocs: a script makes pages",
    {
      "mkdocs.yml": "site_name: x\nplugins:\n  - gen-files:\n      scripts: [gen.py]\n",
      ...pages("docs", "[b](none.md)"),
    },
    ["none.md likely"],
  ],
  [
    "MkDocs: a plugin may make the pages of a folder that has none",
    { "mkdocs.yml": "site_name: x\nplugins: [search, autoapi]\n", ...pages("docs", "[x](api/x.md) [b](none.md)") },
    ["api/x.md likely", "none.md certain"],
  ],
  [
    "Mintlify: a file for contributors may be a page",
    {
      "docs.json": '{ "navigation": { "pages": ["a", "b"] } }',
      "a.mdx": "[s](/security) [t](/none)\n",
      "b.mdx": "B\n",
      "security.mdx": "S\n",
    },
    ["/security likely", "/none certain"],
  ],
  [
    "Mintlify: an API description makes headings",
    {
      "docs.json": '{ "navigation": { "pages": ["a", "b", "c"] } }',
      "a.mdx": "[r](/b#response) [s](/c#response)\n",
      "b.mdx": "---\nopenapi: GET /x\n---\n",
      "c.mdx": page("C"),
    },
    ["b.mdx likely", "c.mdx certain"],
  ],
  [
    "Hugo: a mount brings pages",
    {
      "hugo.toml": 'baseURL = "https://example.org/"\n[[module.mounts]]\nsource = "other"\ntarget = "content/other"\n',
      ...pages("content", "[x](/other/x/) [y](/none/)"),
    },
    ["/other/x/ likely", "/none/ certain"],
  ],
  [
    "Jekyll: a plugin of the project may make pages",
    {
      "_config.yml": "title: T\n",
      Gemfile: "gem 'jekyll'\n",
      "_plugins/make.rb": "",
      ...pages("guide", "[x](/made/x.html) [y](/guide/none.html)"),
    },
    ["/made/x.html likely", "/guide/none.html certain"],
  ],
  [
    "mdBook: a preprocessor may write headings",
    {
      "book.toml": "[book]\n\n[preprocessor.own]\n",
      "src/SUMMARY.md": "- [A](a.md)\n",
      "src/a.md": "# A\n\n[x](#none)\n",
    },
    ["none likely"],
  ],
  [
    "Sphinx: an extension may make a listed page",
    {
      "docs/conf.py": 'extensions = ["myst_parser", "autoapi.extension"]\n',
      "docs/index.md": "# Home\n\n```{toctree}\nautoapi/index\n```\n",
    },
    ["docs/autoapi/index.md likely"],
  ],
];

it.each(cases)("is certain only of what the configuration shows. %s", async (_name, files, expected) => {
  expect(await judged(files)).toEqual(expected);
});

it.each([
  ["Default reporter", "#default-reporters", 0],
  ["Prefetching data", "#refetching-data", 0],
  ["Trace header", "#tracer-header", 0],
  ["Application keys", "#applicaation-keys", 1],
  ["Application keys", "#Application_Keys", 1],
])("fixes a misspelled heading, and not one that may be another: %s, %s", async (heading, target, fixes) => {
  const files = { "mkdocs.yml": "site_name: x\n", "docs/a.md": `# A\n\n[x](${target})\n\n## ${heading}\n` };
  const findings = await checkSite(await openSite(memoryTree(files)));
  expect(findings.filter(({ fix }) => fix !== undefined)).toHaveLength(fixes);
});

it("reports one cause of many entries without a page once", async () => {
  const listed = ["p", "q", "r", "s", "t"].map((name) => `{ slug: "${name}" }`);
  const known = ["a", "b"].map((name) => `{ slug: "${name}" }`);
  const more = Array.from({ length: 8 }, (_, n) => [`${starlightDocs}/en/x${n}.md`, page("X")] as const);
  const others = more.map((_, n) => `{ slug: "x${n}" }`);
  const sidebar = [...listed, ...known, ...others].join(", ");
  const files = {
    "astro.config.mjs": astro(`, locales, defaultLocale: "en", sidebar: [${sidebar}]`),
    ...pages(`${starlightDocs}/en`, "A"),
    ...Object.fromEntries(more),
  };
  const findings = await checkSite(await openSite(memoryTree(files)));
  expect(findings.filter(({ check }) => check === "broken-navigation")).toEqual([
    expect.objectContaining({
      message: "5 of the 15 entries of this file name no page of the repository.",
      certainty: "likely",
      why: expect.stringContaining("takes `locales` from code that is not read"),
    }),
  ]);
});

it("names links to a moved page in documents that are no pages of the site", async () => {
  const tree = memoryTree({
    "mkdocs.yml": "site_name: x\n",
    "README.md": "# R\n\n[a](docs/a.md) [b](./docs/b.md)\n\n[c](/docs/a.md#x)\n",
    "docs/a.md": "# A\n",
    "docs/b.md": "# B\n",
  });
  const done = await movePage(await openSite(tree), { from: "docs/a.md", to: "docs/g/a.md" });
  expect(done.kind === "done" && done.skipped.map(({ path, line }) => `${path}:${line}`)).toEqual([
    expect.any(String),
    "README.md:3",
    "README.md:5",
  ]);
});

it.each([
  [
    "VitePress, in a file that is excluded and included without a space",
    {
      ".vitepress/config.ts": "export default { srcExclude: ['part.md'], themeConfig: {} };",
      "part.md": "[x](/g/x)\n",
      "a.md": "<!--@include: ./part.md-->\n",
      "g/x.md": "# X\n",
    },
    "part.md",
  ],
  [
    "GitBook, in an included file",
    {
      "SUMMARY.md": "* [A](a.md)\n* [X](g/x.md)\n",
      ".gitbook/includes/part.md": "[x](../../g/x.md)\n",
      "a.md": '{% include ".gitbook/includes/part.md" %}\n',
      "g/x.md": "# X\n",
    },
    ".gitbook/includes/part.md",
  ],
])("follows links to a moved page. %s", async (_name, files, part) => {
  const tree = memoryTree(files);
  const after = tree.with(editsOf(await movePage(await openSite(tree), { from: "g/x.md", to: "h/x.md" })));
  expect(after.text(part)).toContain("h/x");
});

it("follows a moved page under a render hook of Hugo, in every form of link", async () => {
  const tree = memoryTree({
    "hugo.toml": 'baseURL = "https://example.org/"\n',
    "layouts/_default/_markup/render-link.html": "<a>",
    "content/g/a.md": page("A"),
    "content/b.md": page("[v](/g/a/) [w](/g/a) [x](g/a.md) [y](/g/a.md#x)"),
  });
  const after = tree.with(
    editsOf(await movePage(await openSite(tree), { from: "content/g/a.md", to: "content/h/a.md" })),
  );
  expect(after.text("content/b.md")).not.toContain("g/a");
  expect(after.text("content/b.md").match(/h\/a/g)).toHaveLength(4);
  expect((await checkSite(await openSite(after))).filter(({ check }) => check === "broken-link")).toEqual([]);
});

const withSidebar = (entries: string): Files => ({
  "docusaurus.config.js": docusaurus('docs: { sidebarPath: "./sidebars.js" }'),
  "sidebars.js": `const names = (some) => some.map((name) => "guide/" + name);\nmodule.exports = { docs: [${entries}] };\n`,
  "docs/intro.md": page("I"),
  "docs/guide/keys.md": page("K"),
  "docs/guide/roles.md": page("R"),
});

it.each([
  ["a method changes the list", '"intro", ...["keys", "roles"].map((name) => "guide/" + name)', ["keys"]],
  ["a function takes the list", '"intro", ...names(["keys", "roles"])', ["keys"]],
  ["a function takes the names", '"intro", doc("keys"), doc("roles")', ["keys"]],
  ["a function takes the group", '"intro", group({ label: "G", items: ["keys", "roles"] })', ["keys"]],
])("does not guess what a computed sidebar lists. Docusaurus: %s", async (_name, entries, told) => {
  const site = await openSite(memoryTree(withSidebar(entries)));
  expect(await checkSite(site)).toEqual([]);
  const done = await movePage(site, { from: "docs/guide/keys.md", to: "docs/guide/tokens.md" });
  expect([...editsOf(done).keys()]).not.toContain("sidebars.js");
  const named = done.kind === "done" ? done.skipped.filter(({ path }) => path === "sidebars.js") : [];
  expect(named.map(({ line, reason }) => [line, reason.split(" ")[0]])).toEqual(told.map((text) => [2, text]));
});

it("still reads lists as they are written in calls, functions and conditions around them", async () => {
  expect(await judged(withSidebar('"intro", ...(isBeta ? ["guide/keys", "guide/none"] : []), "guide/roles"'))).toEqual([
    "guide/none likely",
  ]);
  const vitepress = (sidebar: string): Files => ({
    ".vitepress/config.mts": `export default withMermaid(defineConfig({ themeConfig: { sidebar: ${sidebar} } }));\nfunction guide() { return [{ text: "A", link: "/a" }, { text: "N", link: "/none" }]; }\n`,
    "a.md": "# A\n",
    "b.md": "# B\n",
  });
  expect(await judged(vitepress('{ "/": guide() }'))).toEqual(["/none likely"]);
  expect(
    await judged(vitepress('[{ text: "B", items: [{ text: "B", link: "/b" }, { text: "X", link: "/x" }] }]')),
  ).toEqual(["/x likely", "/none likely"]);
  expect(await judged(vitepress('[{ text: "X", link: "/x" }].map(translate)'))).toEqual(["/none likely"]);
});

describe("the base of a group in a VitePress sidebar", () => {
  const files = (sidebar: string, more = ""): Files => ({
    ".vitepress/config.ts": `export default defineConfig({ base: "/docs/", themeConfig: { sidebar: ${sidebar} } });\n${more}`,
    "guide/a.md": "# A\n",
    "guide/b.md": "# B\n",
  });
  const literal = '{ "/guide/": { base: "/guide/", items: [{ text: "A", link: "a" }, { text: "B", link: "/b" }] } }';

  it("comes before the links of its elements", async () => {
    expect(await checkSite(await openSite(memoryTree(files(literal))))).toEqual([]);
    expect(await judged(files(literal.replace('link: "a"', 'link: "none"')))).toEqual(["/guide/none likely"]);
  });

  it("is left out where an entry follows its page, and the entry is named where the page leaves the base", async () => {
    const tree = memoryTree(files(literal));
    const site = await openSite(tree);
    const inside = await movePage(site, { from: "guide/a.md", to: "guide/c.md" });
    expect(tree.with(editsOf(inside)).text(".vitepress/config.ts")).toContain('link: "c"');
    const outside = await movePage(site, { from: "guide/a.md", to: "other/a.md" });
    expect(outside).toMatchObject({
      skipped: expect.arrayContaining([expect.objectContaining({ path: ".vitepress/config.ts" })]),
    });
  });

  it("is unknown in lists that a function returns", async () => {
    const called = files(
      '{ "/guide/": { base: "/guide/", items: guide() } }',
      'function guide() { return [{ text: "A", link: "a" }]; }',
    );
    expect(await checkSite(await openSite(memoryTree(called)))).toEqual([]);
  });
});
