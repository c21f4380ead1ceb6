import { type FormSite, part, picture } from "../oracle-site.ts";
import { fumadocsApp, nextraApp } from "../scaffolds.ts";

/** The sites of Docusaurus, Nextra, Mintlify and Fumadocs: MDX pages and React components. */
export const reactSites: readonly FormSite[] = [
  {
    name: "docusaurus-forms",
    publicDir: "static",
    config: {
      "package.json": '{ "private": true }\n',
      "README.md": "# Outside",
      "versions.json": '["2.0", "1.0"]\n',
      "help_versions.json": '["1.0"]\n',
      "docusaurus.config.mjs": `export default {
  title: "Oracle",
  url: "https://example.org",
  baseUrl: "/",
  onBrokenLinks: "warn",
  onBrokenAnchors: "warn",
  markdown: { hooks: { onBrokenMarkdownLinks: "warn", onBrokenMarkdownImages: "warn" } },
  i18n: { defaultLocale: "en", locales: ["en", "fr"] },
  themes: ["@docusaurus/theme-classic"],
  plugins: [
    [
      "@docusaurus/plugin-content-docs",
      { path: "docs", routeBasePath: "docs", versions: { "1.0": { path: "legacy" } } },
    ],
    [
      "@docusaurus/plugin-content-docs",
      { id: "help", path: "help", routeBasePath: "help", lastVersion: "current", sidebarPath: false },
    ],
    ["@docusaurus/plugin-content-pages", {}],
    [
      "@docusaurus/plugin-client-redirects",
      {
        fromExtensions: ["html"],
        redirects: [
          { from: "/docs/old", to: "/docs/start" },
          { from: ["/docs/older", "/oldest"], to: "/docs/next/guide/keys" },
        ],
      },
    ],
  ],
};
`,
    },
    files: {
      "src/pages/index.md": "# Home\n\n[[/docs/start]] [[/fr/]] [[docs/start]] [[/other]]",
      "src/pages/other.mdx": "# Other\n\n[[/]] [[./index.md]]",
      "docs/start.md":
        "# Start\n\n[[guide/keys.md]] [[/docs/guide/keys]] [[/docs/next/guide/keys]] [[/docs/legacy/guide/keys]] [[/docs/1.0/guide/keys]] [[/docs/2.0/guide/keys]] [[/docs/next/only-now]] [[/docs/only-now]] [[/docs/old]] [[/docs/older]] [[/oldest]] [[/docs/start.html]] [[pathname:///notes.txt]] [[/notes.txt]] [[/help/first]] [[/help/1.0/first]] [[/help/next/first]] [[/help/1.0/gone]] [[@site/help/first.md]]",
      "docs/only-now.md": "# Only now",
      "docs/guide/keys.md":
        "# Keys\n\n## Scopes\n\n[[../start.md]] [[slugged.md]] [[/docs/next/given/place]] [[named.md]]",
      "docs/guide/slugged.md": "---\nslug: /given/place\n---\n\n# Slugged\n\n[[./keys.md]] [[keys]] [[../guide/keys]]",
      "docs/guide/named.md":
        "---\nslug: another\n---\n\n# Named\n\n[[/docs/next/guide/another]] [[/docs/next/guide/named]] [[another]] [[named]]",
      "docs/guide/with-id.md":
        "---\nid: own-id\n---\n\n# With id\n\n[[/docs/next/guide/own-id]] [[/docs/next/guide/with-id]] [[./with-id.md]] [[own-id]] [[./own-id.md]]",
      "docs/02-numbered/01-first.md":
        "# First\n\n[[./02-second.md]] [[./second.md]] [[second]] [[02-second]] [[/docs/next/numbered/second]] [[/docs/next/02-numbered/02-second]]",
      "docs/02-numbered/02-second.md":
        "# Second\n\n[[01-first.md]] [[../guide/keys.md#scopes]] [[../guide/keys.md#nowhere]]",
      "docs/02-numbered/2024-01-02-dated.md": "# Dated\n\n[[/docs/next/numbered/2024-01-02-dated]]",
      "docs/02-numbered/1.5-release.md": "# Release\n\n[[/docs/next/numbered/1.5-release]]",
      "docs/twin/twin.md":
        "# Twin of its folder\n\n[[/docs/next/twin]] [[/docs/next/twin/twin]] [[other.md]] [[other]] [[twin/other]]",
      "docs/twin/other.md": "# Other\n\n[[./twin.md]] [[twin]]",
      "docs/readme/README.md": "# Readme\n\n[[/docs/next/readme]] [[/docs/next/readme/README]] [[/docs/next/readme/]]",
      "docs/included.mdx":
        'import Part from "[+./_part.mdx+]";\nimport Link from "@docusaurus/Link";\n\n# Included\n\n<Part />\n\n[[#from-part]] [[#nowhere]]\n\n<<./start.md>> <<./start>> <<start>> <<./missing>> <</docs/next/start>> <</docs/next/missing>>\n\n((/top.png)) ((./pixel.png)) ((/missing.png))\n\n<Link to="/docs/next/start">Text</Link>',
      "docs/from-part.md":
        "# To a part\n\n[[./included.mdx#from-part]] [[./included.mdx#nowhere]] [[./_part.mdx]] [[../README.md]] [[@site/README.md]]",
      "docs/_part.mdx": part,
      "docs/pixel.png": picture,
      "static/top.png": picture,
      "static/notes.txt": "Notes.",
      "versioned_docs/version-2.0/start.md":
        "# Start 2.0\n\n[[./guide/keys.md]] [[/docs/guide/keys]] [[guide/keys]] [[./only-now.md]] [[/docs/legacy/start]]",
      "versioned_docs/version-2.0/guide/keys.md":
        "# Keys 2.0\n\n[[../start.md]] [[../../../docs/start.md]] [[@site/docs/start.md]]",
      "versioned_docs/version-1.0/start.md":
        "# Start 1.0\n\n[[./guide/keys.md]] [[guide/keys]] [[/docs/1.0/guide/keys]]",
      "versioned_docs/version-1.0/guide/keys.md": "# Keys 1.0",
      "help/first.md": "# First help\n\n[[second.md]] [[./second.md]] [[/help/second]]",
      "help/second.md": "# Second help",
      "help_versioned_docs/version-1.0/first.md": "# First help 1.0\n\n[[/help/1.0/first]] [[/help/first]]",
      "i18n/fr/docusaurus-plugin-content-docs/current/start.md":
        "# Début\n\n[[guide/keys.md]] [[./guide/keys.md]] [[./only-now.md]] [[/docs/next/guide/keys]] [[/fr/docs/next/guide/keys]] [[/docs/next/only-now]] [[/docs/guide/keys]] [[/docs/next/missing]]",
      "i18n/fr/docusaurus-plugin-content-docs/current/guide/keys.md":
        "# Clés\n\n## Portées\n\n[[../start.md]] [[#portées]] [[slugged.md]] [[/docs/next/given/place]]",
    },
  },
  // The configuration computes the last version, so only the build knows it. The same files are built with each version
  // as the last.
  ...["current", "2.0"].map(
    (last, at): FormSite => ({
      name: `docusaurus-last-${last === "current" ? "current" : "older"}`,
      config: {
        "package.json": '{ "private": true }\n',
        "versions.json": '["2.0"]\n',
        "docusaurus.config.mjs": `const choices = ["current", "2.0"];
export default {
  title: "Oracle",
  url: "https://example.org",
  baseUrl: "/",
  onBrokenLinks: "warn",
  onBrokenAnchors: "warn",
  markdown: { hooks: { onBrokenMarkdownLinks: "warn", onBrokenMarkdownImages: "warn" } },
  themes: ["@docusaurus/theme-classic"],
  plugins: [
    ["@docusaurus/plugin-content-docs", { path: "docs", routeBasePath: "docs", lastVersion: choices[${at}], sidebarPath: false }],
    ["@docusaurus/plugin-content-pages", {}],
  ],
};
`,
      },
      files: {
        "src/pages/index.md":
          "# Home\n\n[[/docs/keys]] [[/docs/next/keys]] [[/docs/2.0/keys]] [[/docs/only-now]] [[/docs/next/only-now]] [[/docs/missing]] [[/docs/next/missing]] [[/docs/2.0/missing]]",
        "docs/keys.md": "# Keys\n\n[[./only-now.md]] [[./missing.md]] [[only-now]] [[#keys]]",
        "docs/only-now.md": "# Only now\n\n[[./keys.md]]",
        "versioned_docs/version-2.0/keys.md":
          "# Keys 2.0\n\n[[./keys.md]] [[./only-now.md]] [[/docs/keys]] [[/docs/2.0/keys]]",
      },
    }),
  ),
  {
    name: "nextra-forms",
    root: "content",
    publicDir: "public",
    config: {
      ...nextraApp,
      "public/top.png": picture,
      "next.config.mjs": `import nextra from "nextra";
const withNextra = nextra({ search: false });
export default withNextra({
  eslint: { ignoreDuringBuilds: true },
  async redirects() {
    return [
      { source: "/old", destination: "/start", permanent: true },
      { source: "/older", destination: "/start", statusCode: 302 },
      { source: "/folder/:path*", destination: "/guide/:path*", permanent: false },
      { source: "/named/:slug", destination: "/guide/:slug", permanent: false },
      { source: "/away", destination: "https://example.org/", permanent: false },
    ];
  },
});
`,
      "app/_meta.global.js": `export default { index: "Home", start: "Start", guide: { title: "Guide", items: { keys: "Keys" } } };\n`,
    },
    files: {
      "index.mdx":
        "# Home\n\n[[start]] [[./start]] [[guide/keys.mdx]] <<./start>> <</start>> <</missing>> <<start.mdx>>",
      "start.mdx":
        'import Part from "[+./_parts/part.mdx+]"\nimport { Cards } from "nextra/components"\n\n# Start\n\n<Part />\n\n[[#from-part]] [[#nowhere]]\n\n<Cards><Cards.Card [=/guide/keys=] /><Cards.Card [=/guide/missing=] /></Cards>\n\n((/top.png)) ((/missing.png)) ((./pixel.png))',
      "guide/index.mdx": "# Guide\n\n[[keys]] [[./keys]] [[guide/keys]] [[./keys.mdx]] [[../start.mdx]]",
      "guide/keys.mdx":
        "# Keys\n\n[[../start#from-part]] [[/start#nowhere]] [[/old]] [[/older]] [[/folder/keys]] [[/folder/missing]] [[/named/keys]] [[/away]] [[/folder]]",
      "(group)/inside.mdx": "# Inside a group\n\n[[/inside]] [[/(group)/inside]] [[start]]",
      "_parts/part.mdx": part,
    },
  },
  {
    name: "nextra-languages",
    root: "content",
    publicDir: "public",
    config: {
      "mdx-components.js": nextraApp["mdx-components.js"],
      "middleware.js": `export { middleware } from "nextra/locales";
export const config = { matcher: ["/((?!api|_next|favicon.ico|.*\\\\..*).*)"] };
`,
      "next.config.mjs": `import nextra from "nextra";
const withNextra = nextra({ search: false });
export default withNextra({
  eslint: { ignoreDuringBuilds: true },
  i18n: { locales: ["en", "fr"], defaultLocale: "en" },
});
`,
      "app/[lang]/layout.jsx": nextraApp["app/layout.jsx"]
        .replace("{ children }", "{ children, params }")
        .replace("  return", "  const { lang } = await params;\n  return")
        .replace("getPageMap()", "getPageMap('/' + lang)"),
      "app/[lang]/[[...mdxPath]]/page.jsx": nextraApp["app/[[...mdxPath]]/page.jsx"]
        .replace("../../mdx-components", "../../../mdx-components")
        .replace("params.mdxPath", "params.mdxPath, params.lang"),
    },
    files: {
      "en/index.mdx": "# Home\n\n[[/start]] [[/en/start]] [[/fr/start]] [[start]] [[./start]] [[/guide/keys]]",
      "en/start.mdx": "# Start\n\n[[/]] [[/en]] [[guide/keys]] [[./guide/keys.mdx]] [[/only]] [[/missing]]",
      "en/guide/keys.mdx": "# Keys\n\n[[../start]] [[/fr/guide/keys]] [[../../fr/start]]",
      "en/only.mdx": "# Only English",
      "fr/index.mdx": "# Accueil\n\n[[/start]] [[/en/start]] [[/fr/start]] [[start]] [[./start]]",
      "fr/start.mdx": "# Début\n\n[[/]] [[/fr]] [[/only]] [[/guide/keys]]",
    },
  },
  {
    name: "mintlify-forms",
    config: {
      "docs.json": `${JSON.stringify(
        {
          name: "Oracle",
          theme: "mint",
          colors: { primary: "#000000" },
          navigation: {
            languages: [
              {
                language: "en",
                versions: [
                  { version: "v2", groups: [{ group: "Start", pages: ["index", "start", "v2/keys"] }] },
                  { version: "v1", groups: [{ group: "Start", pages: ["v1/keys"] }] },
                ],
              },
              { language: "fr", groups: [{ group: "Début", pages: ["fr/index", "fr/start"] }] },
            ],
          },
          redirects: [
            { source: "/old", destination: "/start" },
            { source: "/old/:slug*", destination: "/v2/:slug*" },
            { source: "/beta/:slug", destination: "/v1/:slug" },
            { source: "/away", destination: "https://example.org" },
            { source: "/kept", destination: "/start", permanent: false },
          ],
        },
        null,
        2,
      )}\n`,
    },
    files: {
      "index.mdx":
        "---\ntitle: Home\n---\n\n[[/start]] [[start]] [[./start]] [[/fr/start]] [[/v2/keys]] [[/v1/keys]] [[/v3/keys]] [[/fr]] [[/fr/]] [[/v2]]",
      "start.mdx":
        '---\ntitle: Start\n---\n\nimport Part from "[+/snippets/part.mdx+]";\n\n<Part />\n\n[[#from-part]] [[#nowhere]]\n\n<Card [=/v2/keys=]>Text</Card>\n\n<Card [=/v2/missing=]>Text</Card>\n\n<<./v2/keys>> <</v2/keys>> <</missing>> <<v2/keys>>\n\n((/images/top.png)) ((./images/top.png)) ((/images/missing.png))',
      "v2/keys.mdx":
        "---\ntitle: Keys\n---\n\n## Scopes\n\n[[/start#from-part]] [[/old]] [[/old/keys]] [[/old/deep/keys]] [[/old/missing]] [[/beta/keys]] [[/beta/missing]] [[/away]] [[/kept]] [[../v1/keys]] [[../v1/keys.mdx]] [[../fr/start]]",
      "v1/keys.mdx": "---\ntitle: Keys 1\n---\n\n[[/v2/keys#scopes]] [[../v2/keys#nowhere]] [[keys]] [[./keys]]",
      "fr/index.mdx": "---\ntitle: Accueil\n---\n\n[[/fr/start]] [[/start]] [[./start]] [[fr/start]] [[../start]]",
      "fr/start.mdx": "---\ntitle: Début\n---\n\n[[/fr/index]] [[/fr/v2/keys]]",
      "snippets/part.mdx": part,
      "images/top.png": picture,
    },
  },
  {
    name: "fumadocs-forms",
    root: "content/docs",
    publicDir: "public",
    config: { ...fumadocsApp, "public/seen.txt": "Notes." },
    files: {
      "index.mdx":
        "---\ntitle: Home\n---\n\n[[/docs]] [[/docs/]] [[./start.mdx]] [[./(group)/inside.mdx]] [[/docs/inside]]",
      "start.mdx":
        "---\ntitle: Start\n---\n\n## One [#own]\n\n[[#own]] [[#one]] [[/docs/(group)/inside]] [[/docs/guide]] [[/seen.txt]] <<./start.mdx>> <<./guide>> <<guide>> <<guide/next.js>>",
      "(group)/inside.mdx":
        "---\ntitle: Inside\n---\n\n[[./deep/two.mdx]] [[/docs/deep/two]] [[deep/two]] [[./(more)/three.mdx]] [[/docs/three]]",
      "(group)/deep/two.mdx":
        "---\ntitle: Two\n---\n\n[[/docs/start#own]] [[/docs/start#one]] [[../inside]] [[./two.mdx]]",
      "(group)/(more)/three.mdx": "---\ntitle: Three\n---\n\n[[inside]] [[./missing.mdx]]",
      "guide/index.mdx":
        "---\ntitle: Guide\n---\n\n[[/docs/guide/next.js]] [[./next.js.mdx]] [[/docs/guide/next]] [[/docs/guide/index]]",
      "guide/next.js.mdx": "---\ntitle: Next\n---\n\n[[./index.mdx]] [[./index.mdx#top]]",
      "includes.mdx":
        '---\ntitle: Includes\n---\n\n<include>[+./_parts/part.mdx+]</include>\n\n<include lang="py">[+_parts/code.py+]</include>\n\n[[#from-part]] [[#nowhere]]',
      "_parts/part.mdx": part,
      "_parts/code.py": "in_code = 1",
      "twice.mdx": "---\ntitle: Twice\n---\n\n[[/docs/twice]] [[/docs/twice/index]]",
      "twice/index.mdx": "---\ntitle: Twice again\n---\n",
    },
  },
  ...["dot", "dir"].map(
    (parser): FormSite => ({
      name: parser === "dot" ? "fumadocs-languages" : "fumadocs-folders",
      root: "content/docs",
      config: {
        ...fumadocsApp,
        "lib/i18n.ts": `export const i18n = defineI18n({ defaultLanguage: "en", languages: ["en", "fr"]${parser === "dir" ? ', parser: "dir", hideLocale: "default-locale"' : ""} });\n`,
      },
      files: Object.fromEntries(
        Object.entries({
          "index.en": "[[/en/docs/start]] [[/docs/start]] [[/fr/docs/start]] [[/en/docs/missing]] [[./start.mdx]]",
          "start.en": "[[/fr/docs/only]] [[/fr/docs/missing]] [[/docs]] [[/en/docs]] [[/fr/docs]]",
          "only.en": "[[/en/docs/only]] [[/docs/only]]",
          "index.fr": "[[/fr/docs/start]] [[/en/docs/only]] [[start]] [[docs/start]] [[./start.mdx]]",
          "start.fr": "[[only]] [[./only.mdx]]",
        }).map(([name, text]) => {
          const [page = "", language = ""] = name.split(".");
          const plain = language === "en" ? `${page}.mdx` : `${page}.${language}.mdx`;
          return [parser === "dir" ? `${language}/${page}.mdx` : plain, `---\ntitle: Page\n---\n\n${text}`];
        }),
      ),
    }),
  ),
];
