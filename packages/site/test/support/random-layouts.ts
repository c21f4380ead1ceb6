/** How a framework lays out a site, as far as random sites use it. Written from the builder's behavior, not from our code. */
export interface Layout {
  name: string;
  framework: string;
  extension: string;
  /** The folder of the pages. Ends with a slash unless empty. */
  root: string;
  /** Other folders with the same pages: older versions, or other languages. They move along. */
  copies?: readonly { dir: string; kind: "version" | "language" }[];
  /** The address of a page. */
  route(path: string): string;
  /** The part that links omit: the language, if each language is a separate site. */
  scope?(path: string): string;
  /**
   * file: `../a/b.md`; route: `/a/b`; near: relative to the page's own address; ref and link: by the file's path, in a
   * template tag; doc: by the same without its ending, in a role.
   */
  forms: readonly ("file" | "route" | "near" | "ref" | "link" | "doc")[];
  /** The name of a folder's index page. */
  index?: string;
  /** Addresses with and without a trailing slash are different. */
  isExact?: true;
  /** How a page includes another file, and the folder of such files. */
  include?: { write(path: string): string; folder: string; isFromTop?: true };
  /** Targets of HTML tags are resolved like those of Markdown links. */
  readsTags?: true;
  /** Components with a target. */
  hasComponents?: true;
  /** Text at the start of each page. */
  front?: string;
  /** Other files, for pages in the given order. */
  config(pages: readonly string[]): Record<string, string>;
  /** Routes in the navigation and the redirects. */
  entries(files: ReadonlyMap<string, string>): string[];
}

const inside = (root: string, path: string): string => path.slice(root.length).replace(/\.mdx?$/, "");
/** A folder's index page is served at the folder. */
const folded = (stem: string, slash: string, folderSlash = slash): string =>
  stem === "index"
    ? "/"
    : stem.endsWith("/index")
      ? `/${stem.slice(0, -5)}`.replace(/\/$/, folderSlash)
      : `/${stem}${slash}`;

function quotedAfter(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] as string);
}

const importPart = { write: (path: string) => `import Part from '${path}'\n\n<Part />`, folder: "_parts/" };

const mintlify: Layout = {
  name: "mintlify",
  framework: "mintlify",
  extension: ".mdx",
  root: "",
  route: (path) => `/${inside("", path)}`,
  forms: ["route", "near"],
  hasComponents: true,
  include: { write: (path) => `import Part from '/${path}'\n\n<Part />`, folder: "snippets/", isFromTop: true },
  config: (pages) => ({
    "docs.json": `${JSON.stringify({ navigation: { groups: [{ group: "All", pages: pages.map((page) => inside("", page)) }] } }, null, 2)}\n`,
  }),
  entries(files) {
    const config = JSON.parse(files.get("docs.json") ?? "{}");
    const listed = [...JSON.stringify(config.navigation).matchAll(/"pages":(\[[^\]]*\])/g)].flatMap(([, list = ""]) =>
      JSON.parse(list).map((page: string) => `/${page}`),
    );
    return [...listed, ...(config.redirects ?? []).map(({ destination }: { destination: string }) => destination)];
  },
};

const docusaurus: Layout = {
  name: "docusaurus",
  framework: "docusaurus",
  extension: ".md",
  root: "docs/",
  route: (path) => docusaurusRoute("/docs", inside("docs/", path)),
  forms: ["file", "route"],
  index: "index",
  hasComponents: true,
  include: { ...importPart, folder: "_parts/" },
  config: (pages) => ({
    "docusaurus.config.js": docusaurusConfig(""),
    "sidebars.js": `export default {\n  docs: [\n${pages.map((page) => `    '${inside("docs/", page)}',\n`).join("")}  ],\n};\n`,
  }),
  entries: (files) => [
    ...quotedAfter(files.get("sidebars.js") ?? "", /'([^']+)'/g).map((id) => docusaurusRoute(nextBase(files), id)),
    ...quotedAfter(files.get("docusaurus.config.js") ?? "", /to: ['"]([^'"]+)['"]/g),
  ],
};

function docusaurusRoute(base: string, id: string): string {
  const [, dir = "", name = id] = /^(.*\/)?([^/]+)$/.exec(id) ?? [];
  const isFolder =
    name === "index" || (dir !== "" && dir.toLowerCase().endsWith(`${name.toLowerCase()}/`) && isOwn(dir, name));
  return isFolder ? `${base}/${dir}` : `${base}/${id}`;
}

/** A page with its folder's name is the folder's index page. */
function isOwn(dir: string, name: string): boolean {
  return dir.slice(0, -1).split("/").at(-1)?.toLowerCase() === name.toLowerCase();
}

const nextBase = (files: ReadonlyMap<string, string>): string => (files.has("versions.json") ? "/docs/next" : "/docs");

function docusaurusConfig(more: string): string {
  return `export default {
  baseUrl: '/',
${more}  presets: [['classic', { docs: { sidebarPath: './sidebars.js' }, blog: false }]],
  plugins: [['@docusaurus/plugin-client-redirects', { redirects: [] }]],
};
`;
}

const french = "i18n/fr/docusaurus-plugin-content-docs/current/";
const older = "versioned_docs/version-1.0/";

const vitepress: Layout = {
  name: "vitepress",
  framework: "vitepress",
  extension: ".md",
  root: "docs/",
  route: (path) => folded(inside("docs/", path), "", "/"),
  forms: ["file", "route", "near"],
  index: "index",
  isExact: true,
  include: { write: (path) => `<!--@include: ${path}-->`, folder: "parts/" },
  config: (pages) => ({ "docs/.vitepress/config.ts": vitepressConfig("", pages) }),
  entries: (files) => quotedAfter(files.get("docs/.vitepress/config.ts") ?? "", /link: '([^']+)'/g),
};

function vitepressConfig(more: string, pages: readonly string[]): string {
  return `export default {\n${more}  themeConfig: {\n    sidebar: [\n${pages.map((page, i) => `      { text: 'P${i}', link: '${folded(inside("docs/", page), "", "/")}' },\n`).join("")}    ],\n  },\n}\n`;
}

const content = "src/content/docs/";
const starlight: Layout = {
  name: "starlight",
  framework: "starlight",
  extension: ".md",
  root: content,
  route: (path) => folded(inside(content, path).toLowerCase(), "/"),
  forms: ["route", "near"],
  index: "index",
  config: (pages) => ({ "astro.config.mjs": starlightConfig("", pages, content) }),
  entries: starlightEntries(""),
};

function starlightConfig(more: string, pages: readonly string[], root: string): string {
  const slugs = pages
    .map((page) => folded(inside(root, page).toLowerCase(), "/").slice(1, -1))
    .filter((slug) => slug !== "");
  return `import starlight from '@astrojs/starlight';
export default defineConfig({
  integrations: [
    starlight({
${more}      sidebar: [
${slugs.map((slug, i) => (i % 2 === 0 ? `        '${slug}',\n` : `        { slug: '${slug}' },\n`)).join("")}      ],
    }),
  ],
});
`;
}

function starlightEntries(prefix: string): Layout["entries"] {
  return (files) => {
    const text = files.get("astro.config.mjs") ?? "";
    const slugs = quotedAfter(text, /^ {8}(?:\{ slug: )?'([^']+)'/gm).map((slug) => `${prefix}/${slug}/`);
    return [...slugs, ...quotedAfter(text, /'\/[^']*': '([^']+)'/g).map((route) => `${route}/`.replace("//", "/"))];
  };
}

const nextra: Layout = {
  name: "nextra",
  framework: "nextra",
  extension: ".mdx",
  root: "content/",
  route: (path) => folded(inside("content/", path), ""),
  forms: ["route", "near"],
  hasComponents: true,
  include: { ...importPart },
  config: () => ({ "next.config.mjs": nextConfig("") }),
  entries: (files) =>
    quotedAfter(files.get("next.config.mjs") ?? "", /destination: '([^']+)', permanent: true/g).filter(
      (route) => route !== "/alpha",
    ),
};

function nextConfig(more: string): string {
  return `import nextra from 'nextra'\nexport default nextra({})({\n${more}  async redirects() {\n    return [\n      { source: '/x', destination: '/alpha', permanent: true },\n    ]\n  },\n})\n`;
}

/** Languages are folders, and pages write the whole address. */
function inLanguages(layout: Layout, name: string, dir: string, config: Layout["config"]): Layout {
  return { ...layout, name, copies: [{ dir, kind: "language" }], config };
}

export const layouts: readonly Layout[] = [
  mintlify,
  inLanguages(mintlify, "mintlify in two languages", "fr/", (pages) => ({
    "docs.json": `${JSON.stringify(
      {
        navigation: {
          languages: [
            { language: "en", groups: [{ group: "All", pages: pages.map((page) => inside("", page)) }] },
            { language: "fr", groups: [{ group: "Tout", pages: pages.map((page) => `fr/${inside("", page)}`) }] },
          ],
        },
      },
      null,
      2,
    )}\n`,
  })),
  docusaurus,
  {
    ...docusaurus,
    name: "docusaurus with an older version",
    copies: [{ dir: older, kind: "version" }],
    route: (path) =>
      path.startsWith(older)
        ? docusaurusRoute("/docs", inside(older, path))
        : docusaurusRoute("/docs/next", inside("docs/", path)),
    config: (pages) => ({
      ...docusaurus.config(pages),
      "versions.json": '["1.0"]\n',
      "versioned_sidebars/version-1.0-sidebars.json": `${JSON.stringify({ docs: pages.map((page) => inside("docs/", page)) })}\n`,
    }),
  },
  {
    ...docusaurus,
    name: "docusaurus in two languages",
    copies: [{ dir: french, kind: "language" }],
    route: (path) =>
      path.startsWith(french)
        ? docusaurusRoute("/fr/docs", inside(french, path))
        : docusaurusRoute("/docs", inside("docs/", path)),
    scope: (path) => (path.startsWith(french) ? "/fr" : ""),
    config: (pages) => ({
      ...docusaurus.config(pages),
      "docusaurus.config.js": docusaurusConfig("  i18n: { defaultLocale: 'en', locales: ['en', 'fr'] },\n"),
    }),
  },
  {
    name: "mkdocs",
    framework: "mkdocs",
    extension: ".md",
    root: "docs/",
    route: (path) => folded(inside("docs/", path), "/"),
    forms: ["file", "near"],
    index: "index",
    config: (pages) => ({
      "mkdocs.yml": `site_name: Acme\nplugins:\n  - redirects:\n      redirect_maps:\n        old.md: ${pages[0]?.slice(5)}\nnav:\n${pages.map((page) => `  - ${page.slice(5)}\n`).join("")}`,
    }),
    entries: (files) => [
      ...quotedAfter(files.get("mkdocs.yml") ?? "", /^ {2}- (\S+)\.md$/gm).map((page) => folded(page, "/")),
      ...quotedAfter(files.get("mkdocs.yml") ?? "", /^ {8}\S+\.md: (\S+)\.md$/gm).map((page) => folded(page, "/")),
    ],
  },
  vitepress,
  inLanguages(vitepress, "vitepress in two languages", "docs/fr/", (pages) => ({
    "docs/.vitepress/config.ts": vitepressConfig(
      "  locales: { root: { label: 'English' }, fr: { label: 'Français' } },\n",
      pages,
    ),
  })),
  starlight,
  {
    ...starlight,
    name: "starlight in two languages",
    root: `${content}en/`,
    copies: [{ dir: `${content}fr/`, kind: "language" }],
    config: (pages) => ({
      "astro.config.mjs": starlightConfig(
        "      defaultLocale: 'en',\n      locales: { en: { label: 'English' }, fr: { label: 'Français' } },\n",
        pages,
        `${content}en/`,
      ),
    }),
    entries: starlightEntries("/en"),
  },
  nextra,
  inLanguages({ ...nextra, root: "content/en/" }, "nextra in two languages", "content/fr/", () => ({
    "next.config.mjs": nextConfig("  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },\n"),
  })),
  {
    name: "gitbook",
    framework: "gitbook",
    readsTags: true,
    extension: ".md",
    root: "",
    route: (path) => `/${inside("", path)}`,
    forms: ["file"],
    config: (pages) => ({ "SUMMARY.md": `# Contents\n\n${pages.map((page) => `* [${page}](${page})\n`).join("")}` }),
    entries: (files) => quotedAfter(files.get("SUMMARY.md") ?? "", /\]\((\S+)\.md\)/g).map((page) => `/${page}`),
  },
  {
    name: "hugo",
    framework: "hugo",
    extension: ".md",
    root: "content/",
    route: (path) =>
      folded(
        inside("content/", path)
          .toLowerCase()
          .replace(/(^|\/)_index$/, "$1index"),
        "/",
      ),
    forms: ["route", "near", "ref"],
    index: "_index",
    config: () => ({ "hugo.toml": 'baseURL = "https://example.org/"\ntitle = "Acme"\n' }),
    entries: () => [],
  },
  {
    name: "jekyll",
    framework: "jekyll",
    extension: ".md",
    root: "",
    route: (path) => folded(inside("", path), "", "/"),
    forms: ["route", "near", "link"],
    index: "index",
    front: "---\nlayout: default\n---\n\n",
    config: () => ({ "_config.yml": "title: Acme\n" }),
    entries: () => [],
  },
  {
    name: "sphinx",
    framework: "sphinx",
    extension: ".md",
    root: "",
    route: (path) => `/${inside("", path)}.html`,
    forms: ["file", "doc"],
    config: (pages) => ({
      "conf.py": 'extensions = ["myst_parser"]\nmyst_heading_anchors = 6\n',
      "contents.md": `# Contents\n\n\`\`\`{toctree}\n${pages.map((page) => `${inside("", page)}\n`).join("")}\`\`\`\n`,
    }),
    entries: (files) => quotedAfter(files.get("contents.md") ?? "", /^([\w/-]+)$/gm).map((page) => `/${page}.html`),
  },
  {
    name: "mdbook",
    framework: "mdbook",
    readsTags: true,
    extension: ".md",
    root: "src/",
    route: (path) => `/${inside("src/", path)}.html`,
    forms: ["file"],
    include: { write: (path) => `{{#include ${path}}}`, folder: "parts/" },
    config: (pages) => ({
      "book.toml": '[book]\ntitle = "Acme"\n',
      "src/SUMMARY.md": `# Summary\n\n${pages.map((page) => `- [${page}](${page.slice(4)})\n`).join("")}`,
    }),
    entries: (files) =>
      quotedAfter(files.get("src/SUMMARY.md") ?? "", /\]\((\S+)\.md\)/g).map((page) => `/${page}.html`),
  },
  {
    name: "docsify",
    framework: "docsify",
    extension: ".md",
    root: "",
    route: (path) => `/${inside("", path)}`,
    forms: ["file", "route"],
    config: (pages) => ({
      "index.html": "<script>window.$docsify = { relativePath: true, loadSidebar: true }</script>\n",
      "_sidebar.md": pages.map((page) => `- [${page}](/${page})\n`).join(""),
    }),
    entries: (files) => quotedAfter(files.get("_sidebar.md") ?? "", /\]\((\S+)\.md\)/g),
  },
  {
    name: "fumadocs",
    framework: "fumadocs",
    extension: ".mdx",
    root: "content/docs/",
    route: (path) =>
      folded(inside("content/docs/", path), "")
        .replace(/^/, "/docs")
        .replace(/(.)\/$/, "$1"),
    forms: ["route", "file"],
    index: "index",
    hasComponents: true,
    config: (pages) => ({
      "content/docs/meta.json": `{\n  "pages": [\n${pages.map((page) => `    "${inside("content/docs/", page)}",\n`).join("")}    "..."\n  ]\n}\n`,
      "source.config.ts":
        "import { defineDocs } from 'fumadocs-mdx/config';\nexport const docs = defineDocs({ dir: 'content/docs' });\n",
      "lib/source.ts": "export const source = loader({ baseUrl: '/docs', source: docs.toFumadocsSource() });\n",
    }),
    entries: (files) =>
      quotedAfter(files.get("content/docs/meta.json") ?? "", /^ {4}"([^".]+)",$/gm).map((stem) =>
        `/docs${folded(stem, "")}`.replace(/(.)\/$/, "$1"),
      ),
  },
  {
    name: "markdown",
    framework: "markdown",
    readsTags: true,
    extension: ".md",
    root: "",
    route: (path) => `/${inside("", path)}`,
    forms: ["file"],
    config: () => ({}),
    entries: () => [],
  },
];
