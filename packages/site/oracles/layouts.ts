import { blocks, headingsFor, type LinkCase, links, pages } from "./cases.ts";

export interface PlacedLink extends LinkCase {
  /** Where the link stands. */
  path: string;
  /** Where it is no Markdown link: in a tag (`<a href>`, `<img src>`), or the path of a file that a line takes in. */
  kind?: "href" | "src" | "include";
  /** The text of the link, by which it is found in what a builder made. */
  mark: string;
}

/** The table of forms as one site of a framework: what a builder builds and what Emend reads are the same files. */
export interface OracleSite {
  name: string;
  framework: string;
  /** The folder of files that are served from the top. */
  publicDir: string;
  files: Readonly<Record<string, string>>;
  /** Pages by path, each with the text that tells it apart. */
  marks: ReadonlyMap<string, string>;
  links: readonly PlacedLink[];
  /** The page of all headings, and the headings in its order. */
  headingsPath: string;
  headings: readonly string[];
  /** Pages with one block each; the page "none" has none. */
  blocks: ReadonlyMap<string, string>;
}

interface Layout {
  /** The framework, and what is special about this site of it. */
  name: string;
  /** The folder of the pages; left out, the top. */
  root?: string;
  /** Left out, `md`. */
  extension?: "mdx";
  /** Where files are served from the top, where it is not the folder of the pages. */
  publicDir?: string;
  /** The page's own title stands in its front matter only. */
  isTitledByFront?: true;
  /** What absolute links begin with, where pages are not served from the top. */
  prefix?: string;
  config: Readonly<Record<string, string>>;
  /** More links than the common ones. */
  links?: readonly LinkCase[];
  /** The file of a page, where it is not the page's own name. */
  fileName?(page: string): string;
  /** Written into every page's front matter; null where pages have none. */
  front?: string | null;
  /** Files that depend on which pages there are. */
  files?(paths: readonly string[]): Record<string, string>;
}

/** Dead links end a build only where they are asked for. */
export function vitepressConfig(more: string): string {
  return `export default {
  title: "Oracle",
${more}  ignoreDeadLinks: process.env.ORACLE_STRICT !== "1",
};
`;
}

const docusaurusConfig = `export default {
  title: "Oracle",
  url: "https://example.org",
  baseUrl: "/",
  onBrokenLinks: "warn",
  onBrokenAnchors: "warn",
  markdown: { hooks: { onBrokenMarkdownLinks: "warn", onBrokenMarkdownImages: "warn" } },
  themes: ["@docusaurus/theme-classic"],
  plugins: [
    ["@docusaurus/plugin-content-docs", { path: "docs", routeBasePath: "docs", sidebarPath: "./sidebars.mjs" }],
    ["@docusaurus/plugin-content-pages", {}],
    ["@docusaurus/plugin-client-redirects", { redirects: [{ from: "/docs/old", to: "/docs/start" }] }],
  ],
};
`;

export const hugoLayout = "<!doctype html><html><body>{{ .Content }}</body></html>\n";

export const starlightCollections = `import { docsLoader } from "@astrojs/starlight/loaders";
import { docsSchema } from "@astrojs/starlight/schema";
import { defineCollection } from "astro:content";
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`;

export const nextraApp = {
  "mdx-components.js": `import { useMDXComponents as theme } from "nextra-theme-docs";
export const useMDXComponents = (components) => ({ ...theme(), ...components });
`,
  "app/layout.jsx": `import { Layout } from "nextra-theme-docs";
import { getPageMap } from "nextra/page-map";
export default async function Root({ children }) {
  return <html lang="en"><body><Layout pageMap={await getPageMap()}>{children}</Layout></body></html>;
}
`,
  "app/[[...mdxPath]]/page.jsx": `import { generateStaticParamsFor, importPage } from "nextra/pages";
import { useMDXComponents } from "../../mdx-components";
export const generateStaticParams = generateStaticParamsFor("mdxPath");
const { wrapper: Wrapper } = useMDXComponents();
export default async function Page(props) {
  const params = await props.params;
  const { default: Content, toc, metadata } = await importPage(params.mdxPath);
  return <Wrapper toc={toc} metadata={metadata}><Content {...props} params={params} /></Wrapper>;
}
`,
};

export const fumadocsApp = {
  "source.config.ts": `import { defineDocs } from "fumadocs-mdx/config";
export const docs = defineDocs({ dir: "content/docs" });
`,
  "lib/source.ts": 'export const source = loader({ baseUrl: "/docs", source: docs.toFumadocsSource() });\n',
};

export function docsifyPage(more: string): string {
  return `<!doctype html>
<html>
  <body>
    <div id="app"></div>
    <script>window.$docsify = { ${more}loadSidebar: true };</script>
    <script src="docsify.min.js"></script>
  </body>
</html>
`;
}

/** The page that each redirect of a configuration leads to is "start". */
const layouts: readonly Layout[] = [
  {
    name: "mkdocs",
    root: "docs",
    config: {
      "mkdocs.yml": `site_name: Oracle
site_url: https://example.org/
theme: mkdocs
markdown_extensions:
  - admonition
  - attr_list
  - footnotes
  - md_in_html
  - toc
  - pymdownx.tabbed:
      alternate_style: true
plugins:
  - redirects:
      redirect_maps:
        old.md: start.md
`,
    },
    links: [
      { from: "start", target: "old.md" },
      { from: "start", target: "/old/" },
      { from: "start", target: "../old/" },
    ],
  },
  {
    name: "vitepress",
    root: "docs",
    publicDir: "docs/public",
    config: { "docs/.vitepress/config.mjs": vitepressConfig("") },
  },
  {
    name: "vitepress-base",
    root: "docs",
    publicDir: "docs/public",
    config: { "docs/.vitepress/config.mjs": vitepressConfig('  base: "/base/",\n  cleanUrls: true,\n') },
    links: [
      { from: "start", target: "/base/guide/keys" },
      { from: "start", target: "/base/missing" },
    ],
  },
  {
    name: "docusaurus",
    root: "docs",
    publicDir: "static",
    prefix: "/docs",
    config: {
      "docusaurus.config.mjs": docusaurusConfig,
      // Its own modules are CommonJS.
      "package.json": '{ "private": true }\n',
      "sidebars.mjs": `export default { docs: [{ type: "autogenerated", dirName: "." }] };\n`,
      "src/pages/index.md": "# Home\n",
    },
    links: [
      { from: "start", target: "/docs/old" },
      { from: "start", target: "@site/docs/guide/keys.md" },
      { from: "start", target: "@site/docs/missing.md" },
      { from: "start", target: "/docs/guide/keys.md" },
      { from: "start", target: "docs/guide/keys.md" },
      { from: "guide/deep/token", target: "guide/keys.md" },
    ],
  },
  {
    name: "starlight",
    root: "src/content/docs",
    publicDir: "public",
    isTitledByFront: true,
    config: {
      "astro.config.mjs": `import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
export default defineConfig({
  integrations: [starlight({ title: "Oracle", pagefind: false })],
  redirects: { "/old": "/start/" },
  telemetry: false,
});
`,
      "src/content.config.ts": starlightCollections,
    },
    links: [
      { from: "start", target: "/old" },
      { from: "start", target: "/old/" },
    ],
  },
  {
    name: "nextra",
    root: "content",
    extension: "mdx",
    publicDir: "public",
    config: {
      "next.config.mjs": `import nextra from "nextra";
const withNextra = nextra({ search: false });
export default withNextra({
  eslint: { ignoreDuringBuilds: true },
  async redirects() {
    return [{ source: "/old", destination: "/start", permanent: true }];
  },
});
`,
      ...nextraApp,
    },
    links: [
      { from: "start", target: "/old" },
      { from: "start", target: "old.mdx" },
    ],
  },
  {
    name: "hugo",
    root: "content",
    publicDir: "static",
    fileName: (page) => page.replace(/(^|\/)index$/, "$1_index"),
    config: {
      "hugo.toml": `baseURL = "https://example.org/"
title = "Oracle"
disableKinds = ["taxonomy", "term", "RSS", "sitemap"]
refLinksErrorLevel = "WARNING"
refLinksNotFoundURL = "/ref-not-found"
[markup.goldmark.renderer]
unsafe = true
`,
      "layouts/_default/single.html": hugoLayout,
      "layouts/_default/list.html": hugoLayout,
    },
    links: [
      ...[
        "keys.md",
        "keys",
        "/guide/keys.md",
        "guide/keys.md",
        "guide/keys",
        "missing.md",
        "token",
        "deep/token.md",
      ].map((name) => ({ from: "guide/auth", target: `{{< ref "${name}" >}}` })),
      ...[
        "../start.md",
        "start.md",
        "keys.md#scopes",
        "keys.md#nowhere",
        "guide",
        "/guide",
        "_index.md",
        "/",
        "#here",
      ].map((name) => ({ from: "guide/auth", target: `{{< relref "${name}" >}}` })),
      { from: "start", target: "/old/" },
    ],
  },
  {
    name: "jekyll",
    front: "layout: default\n",
    config: {
      "_config.yml": "title: Oracle\n",
      // No plugin that reads links to Markdown files.
      Gemfile: 'source "https://rubygems.org"\ngem "jekyll"\n',
      "_layouts/default.html": "<!doctype html><html><body>{{ content }}</body></html>\n",
    },
    links: [
      { from: "guide/auth", target: "{% link guide/keys.md %}" },
      { from: "guide/auth", target: "{% link guide/keys.md %}#scopes" },
      { from: "guide/auth", target: "{{ '/guide/keys.html' | relative_url }}" },
      { from: "guide/auth", target: "{{ '/missing.html' | relative_url }}" },
      { from: "guide/auth", target: "{{ site.baseurl }}/guide/keys" },
      { from: "guide/auth", target: "{{ site.baseurl }}/missing" },
    ],
  },
  {
    name: "mdbook",
    root: "src",
    front: null,
    config: { "book.toml": '[book]\ntitle = "Oracle"\n' },
    files: (paths) => ({
      "src/SUMMARY.md": `# Summary\n\n${paths.map((path) => `- [Page](<${path.slice(4)}>)\n`).join("")}`,
    }),
    links: [
      { from: "guide/auth", target: "keys.html#scopes" },
      { from: "guide/auth", target: "../SUMMARY.md" },
    ],
  },
  {
    name: "sphinx",
    config: {
      "conf.py": `project = "Oracle"
extensions = ["myst_parser"]
html_theme = "basic"
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_image", "colon_fence"]
exclude_patterns = ["_build"]
`,
    },
    links: [
      { from: "guide/auth", target: "keys.md#by-target" },
      { from: "guide/auth", target: "by-target" },
      { from: "guide/auth", target: "project:keys.md" },
    ],
  },
  {
    name: "mintlify",
    extension: "mdx",
    isTitledByFront: true,
    config: {
      "docs.json": `${JSON.stringify(
        {
          $schema: "https://mintlify.com/docs.json",
          theme: "mint",
          name: "Oracle",
          colors: { primary: "#000000" },
          navigation: { pages: ["index", "start", "guide/auth", "guide/keys"] },
          redirects: [{ source: "/old", destination: "/start" }],
        },
        null,
        2,
      )}\n`,
    },
    links: [
      { from: "start", target: "/old" },
      { from: "start", target: "/docs/guide/keys" },
    ],
  },
  {
    name: "fumadocs",
    root: "content/docs",
    extension: "mdx",
    publicDir: "public",
    prefix: "/docs",
    isTitledByFront: true,
    config: fumadocsApp,
    links: [
      { from: "start", target: "./guide/keys.md" },
      { from: "start", target: "./guide/keys.md#scopes" },
      { from: "start", target: "./guide/missing.md" },
      { from: "start", target: "guide/keys" },
      { from: "start", target: "/docs/guide/keys" },
    ],
  },
  ...[false, true].map(
    (isRelative): Layout => ({
      name: isRelative ? "docsify-relative" : "docsify",
      front: null,
      fileName: (page) => page.replace(/(^|\/)index$/, "$1README"),
      config: {
        "index.html": docsifyPage(isRelative ? "relativePath: true, " : ""),
        "_sidebar.md": "- [Start](/start.md)\n",
      },
      links: [
        "#/guide/keys",
        "#/missing",
        "/guide/keys?id=scopes",
        "keys?id=scopes",
        "guide/keys?id=nowhere",
        "?id=here",
      ]
        .concat(["guide/keys.md", "guide/keys", "guide/keys.md?id=scopes", "guide/README.md", "README.md", "start.md"])
        .map((target) => ({ from: "guide/auth", target })),
    }),
  ),
];

/** A link's target in a layout: its own ending of pages, and its prefix before absolute routes. */
function placeTarget(target: string, { extension, prefix = "" }: Layout): string {
  const isOwn = target.startsWith(`${prefix}/`) && prefix !== "";
  const absolute = target.startsWith("/") && !target.startsWith("//") && !isOwn && !target.endsWith(".txt");
  const placed = absolute ? `${prefix}${target}` : target;
  return extension === undefined ? placed : placed.replace(/\.md(?=$|[?#>])/, `.${extension}`);
}

export const noBlock = "none";

function layOut(layout: Layout): OracleSite {
  const { name, root = "", extension = "md", publicDir = root } = layout;
  const framework = name.replace(/-.*$/, "");
  const inRoot = (path: string): string => (root === "" ? path : `${root}/${path}`);
  const pathOf = (page: string): string => inRoot(`${layout.fileName?.(page) ?? page}.${extension}`);
  const files: Record<string, string> = { ...layout.config };
  const marks = new Map<string, string>();
  const placed = [...links, ...(layout.links ?? [])].map(
    ({ from, target }, at): PlacedLink => ({
      from,
      target: placeTarget(target, layout).replace(/^<|>$/g, ""),
      path: pathOf(from),
      mark: `case-${at}-`,
    }),
  );
  const write = (page: string, body: string, isTitled = false): void => {
    const mark = `mark-${marks.size}-`;
    const title = `Page ${marks.size}`;
    marks.set(pathOf(page), mark);
    const front = layout.front === null ? "" : `---\ntitle: ${title}\n${layout.front ?? ""}---\n\n`;
    files[pathOf(page)] = `${front}${isTitled ? `# ${title}\n\n` : ""}${mark}\n\n${body}\n`;
  };
  for (const page of pages) {
    const own = placed
      .filter(({ from }) => from === page)
      .map(({ target, mark }) => `- [${mark}](${target.includes(" ") ? `<${target}>` : target})`);
    write(page, `## Scopes\n\nText.\n\n## Here\n\nText.\n\n${own.join("\n")}`, layout.isTitledByFront !== true);
  }
  const used = headingsFor(framework);
  write("headings", used.map((source) => `#### ${source}\n\nText.`).join("\n\n"));
  const own = blocks.filter(({ only }) => only === undefined || only.includes(framework));
  for (const { name: block, source } of [{ name: noBlock, source: "Text." }, ...own]) write(`blocks/${block}`, source);
  files[publicDir === "" ? "notes.txt" : `${publicDir}/notes.txt`] = "Notes.\n";
  // Nextra reads every file of its folder of pages as code.
  if (framework !== "nextra") files[inRoot("guide/notes.txt")] = "Notes.\n";
  files[publicDir === "" ? "d.png" : `${publicDir}/d.png`] = picture;
  Object.assign(files, layout.files?.([...marks.keys()]));
  return {
    name,
    framework,
    publicDir,
    files,
    marks,
    links: placed,
    headingsPath: pathOf("headings"),
    headings: used,
    blocks: new Map([noBlock, ...own.map((block) => block.name)].map((block) => [block, pathOf(`blocks/${block}`)])),
  };
}

/** A picture that every builder can read is written by the one that builds; Emend asks only whether it is there. */
export const picture = "picture";

export const layoutSites: readonly OracleSite[] = layouts.map(layOut);
