import { baseOf, pageExtension, underDir } from "../src/links/route.ts";
<<<<<<< HEAD
import { otherSites } from "./forms/other-sites.ts";
import { reactSites } from "./forms/react-sites.ts";
import { layoutSites } from "./layouts.ts";
import { type FormSite, type OracleSite, type PlacedLink, picture } from "./oracle-site.ts";
=======
import {
  docsifyPage,
  fumadocsApp,
  hugoLayout,
  layoutSites,
  nextraApp,
  type OracleSite,
  type PlacedLink,
  picture,
  starlightCollections,
  vitepressConfig,
} from "./layouts.ts";

interface FormSite {
  /** The framework, and the forms that are asked about. */
  name: string;
  /** The folder of the pages; left out, the top. */
  root?: string;
  /** Where files are served from the top, where it is not the folder of the pages. */
  publicDir?: string;
  config: Readonly<Record<string, string>>;
  /**
   * Pages and other files by path below the root. `[[x]]` is a link, `<<x>>` the `href` and `((x))` the picture of a tag,
   * `[=x=]` the `href` of a component, `{doc}[x]` a role of Sphinx, and `[+x+]` the path of a file that is taken in, which holds `in_` and its own name.
   */
  files: Readonly<Record<string, string>>;
}

const part = "## From part\n\nin_part";

/** Forms that only some have: versions, languages, included files, redirects, addresses of their own, targets of tags. */
const formSites: readonly FormSite[] = [
  {
    name: "vitepress-forms",
    root: "docs",
    publicDir: "docs/public",
    config: {
      "README.md": "# Outside",
      "docs/.vitepress/config.mjs": vitepressConfig(
        `  locales: { root: { label: "English", lang: "en" }, fr: { label: "Français", lang: "fr" } },
  rewrites: {
    "packages/:name/docs/:page*": ":name/:page*",
    "inner/:rest(.*)": "outer/:rest(.*)",
    "single.md": "given/name.md",
  },
  srcExclude: ["**/drafts/**"],
`,
      ),
    },
    files: {
      "index.md":
        "# Home\n\n[[./fr/]] [[./fr/start.md]] [[./fr/missing.md]] [[/fr/start]] <<./start.md>> <<./start.html>> <<./missing.html>>",
      "start.md": `# Start

<!--@include: [+./parts/part.md+]-->

<!--@include: [+./parts/missing.md+]-->

<<< [+./parts/code.js+]

<<< [+@/parts/other.js+]{1}

<<< [+@/parts/region.js+]#some{js}

[[#from-part]] [[#nowhere]] ((./pixel.png)) ((/top.png)) <<.#home>> <<./#home>> <<.#nowhere>>`,
      "guide/keys.md":
        "# Keys\n\n[[../start.md#from-part]] [[../start#nowhere]] <<../start.html#from-part>> <<../start.md>> <<keys.html>> <<..#home>> <<../#home>> <<..#nowhere>>",
      "fr/index.md": "# Accueil\n\n[[./start.md]] [[/start]] [[../start.md]] [[./guide/keys.md]]",
      "fr/start.md": "# Début\n\n[[/fr/]] [[/fr]]",
      "packages/alpha/docs/intro.md":
        "# Intro\n\n[[./more.md]] [[/alpha/more]] [[/packages/alpha/docs/more]] [[../../../start.md]] [[/start.md]] [[/packages/alpha/docs/more.md]] [[/alpha/more.md]]",
      "packages/alpha/docs/more.md":
        "# More\n\n[[./intro.md]] [[intro]] [[../../../single.md]] [[/given/name]] [[/single]]",
      "inner/deep/page.md":
        "# Page\n\n[[/outer/deep/page]] [[/inner/deep/page]] [[../../guide/keys.md]] [[../../guide/keys]]",
      "single.md": "# Single\n\n[[./start.md]] [[./inner/deep/page.md]] [[start]] <<../start.html>> <<start.html>>",
      "drafts/draft.md": "# Draft",
      "guide/more.md": "# More\n\n[[../drafts/draft.md]] [[/drafts/draft]] [[../../README.md]]",
      "pixel.png": picture,
      "public/top.png": picture,
      "parts/part.md": part,
      "parts/code.js": "const in_code = 1;",
      "parts/other.js": "const in_other = 1;",
      "parts/region.js": "// #region some\nconst in_region = 1;\n// #endregion some",
    },
  },
  {
    name: "mkdocs-forms",
    root: "docs",
    config: {
      "README.md": "# Outside",
      "mkdocs.yml":
        "site_name: Oracle\nsite_url: https://example.org/\ntheme: mkdocs\nmarkdown_extensions:\n  - toc\n  - pymdownx.snippets\nplugins:\n  - redirects:\n      redirect_maps:\n        old.md: start.md\n        older/page.md: guide/keys.md#scopes\n        away.md: https://example.org/x\n",
    },
    files: {
      "index.md":
        "# Home\n\n[[fr/index.md]] [[fr/start.md]] [[fr/missing.md]] <<start.md>> <<start/>> <<missing/>> <<./start/#from-part>>",
      "start.md":
        '# Start\n\n--8<-- "[+docs/parts/part.md+]"\n\n[[#from-part]] [[#nowhere]] [[../old/]] [[../older/page/]] [[../away/]] [[/older/page/]] <<.#from-part>> <<./#from-part>> <<..#home>> <<../#home>> <<..#nowhere>>',
      "guide/keys.md":
        "# Keys\n\n## Scopes\n\n[[../start.md#from-part]] [[../start.md#nowhere]] <<../../start/>> <<../start.md>> [[../../README.md]] ((../pixel.png)) ((../../pixel.png)) ((/pixel.png))",
      "pixel.png": picture,
      "fr/index.md": "# Accueil\n\n[[start.md]] [[../start.md]] [[guide/keys.md]]",
      "fr/start.md": "# Début\n\n[[index.md]]",
      "parts/part.md": part,
    },
  },
  {
    name: "mdbook-forms",
    root: "src",
    config: {
      "book.toml": '[book]\ntitle = "Oracle"\n\n[output.html.redirect]\n"/old.html" = "guide/keys.html"\n',
      "src/SUMMARY.md": "# Summary\n\n- [Start](start.md)\n- [Keys](guide/keys.md)\n",
    },
    files: {
      "start.md":
        "# Start\n\n{{#include [+parts/part.md+]}}\n\n[[#from-part]] [[#nowhere]] <<guide/keys.md>> <<guide/keys.html>> <<guide/missing.md>> [[old.html]]",
      "guide/keys.md":
        "# Keys\n\n{{#include [+../parts/code.rs+]:2:3}}\n\n{{#rustdoc_include [+../parts/other.rs+]}}\n\n[[../start.md#from-part]] [[../start.md#nowhere]] <<../start.md#from-part>> [[outside.md]] [[outside.html]] [[../parts/part.md]] ((../pixel.png)) ((../missing.png))",
      "guide/outside.md": "# Outside of the summary",
      "pixel.png": picture,
      "parts/part.md": part,
      "parts/code.rs": "// one\nlet in_code = 1;\n",
      "parts/other.rs": "let in_other = 1;\n",
    },
  },
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
  {
    name: "starlight-forms",
    root: "src/content/docs",
    publicDir: "public",
    config: {
      "src/content.config.ts": starlightCollections,
      "src/pages/custom.astro": "<p>Custom</p>\n",
      "public/notes.txt": "Notes.\n",
      "public/top.png": picture,
      "astro.config.mjs": `import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
export default defineConfig({
  base: "/base",
  integrations: [
    starlight({
      title: "Oracle",
      pagefind: false,
      locales: { root: { label: "English", lang: "en" }, fr: { label: "Français" } },
    }),
  ],
  redirects: {
    "/old": "/base/start/",
    "/older": { status: 302, destination: "/base/start/" },
    "/away": "https://example.org/",
  },
});
`,
    },
    files: {
      "index.md": "---\ntitle: Home\n---\n\n[[/base/start/]] [[/start/]] [[start/]] [[/base/fr/]] [[/base]] [[/base/]]",
      "start.mdx": `---
title: Start
---

import { LinkCard, Card, LinkButton } from "@astrojs/starlight/components";
import Part from "[+../../parts/part.mdx+]";

<Part />

<LinkCard [=/base/guide/keys/=] />

<LinkCard [=/base/guide/missing/=] />

<LinkCard [=../guide/keys/=] />

<LinkCard [=./guide/keys.md=] />

[[#from-part]] [[#nowhere]]

<</base/guide/keys/>> <</base/missing/>> <<../guide/keys/>> <<guide/keys/>> <<./guide/keys.md>> <<.#from-part>> <<./#from-part>> <<..#_top>> <<..#nowhere>>

((/base/top.png)) ((/top.png)) ((/base/missing.png)) ((../top.png))`,
      "guide/keys.md":
        "---\ntitle: Keys\n---\n\n[[../../start/#from-part]] [[../../start/#nowhere]] [[/base/old]] [[/base/old/]] [[/base/older/]] [[/base/away/]] [[/old/]] [[/base/custom/]] [[/base/notes.txt]] [[/notes.txt]]",
      "guide/slugged.md":
        "---\ntitle: Slugged\nslug: given/place\n---\n\n[[/base/given/place/]] [[/base/guide/slugged/]] [[../../guide/keys/]] [[../keys/]]",
      "guide/empty.md": "---\ntitle: Empty slug\nslug: given\n---\n\n[[/base/given/]] [[../start/]]",
      "only.md": "---\ntitle: Only English\n---\n\n[[/base/fr/only/]] [[/base/fr/missing/]]",
      "fr/index.md": "---\ntitle: Accueil\n---\n\n[[/base/fr/start/]] [[start/]] [[only/]] [[/base/start/]]",
      "fr/start.md": "---\ntitle: Début\n---\n\n[[../]] [[../guide/keys/]] [[../missing/]] [[/base/fr/only/]]",
      "../../parts/part.mdx": part,
    },
  },
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
    name: "hugo-forms",
    root: "content",
    publicDir: "static",
    config: {
      "hugo.toml": `baseURL = "https://example.org/"
title = "Oracle"
defaultContentLanguage = "en"
disableKinds = ["taxonomy", "term", "RSS", "sitemap"]
refLinksErrorLevel = "WARNING"
refLinksNotFoundURL = "/ref-not-found"
[languages.en]
weight = 1
[languages.fr]
weight = 2
[markup.goldmark.renderer]
unsafe = true
`,
      "layouts/_default/single.html": hugoLayout,
      "layouts/_default/list.html": hugoLayout,
      "static/top.png": picture,
    },
    files: {
      "_index.md": "---\ntitle: Home\n---\n\n[[start/]] [[/fr/]] [[/fr/start/]] [[/en/start/]] [[guide/]]",
      "start.md":
        '---\ntitle: Start\naliases:\n  - /old/\n  - older\n  - /deep/oldest/\n---\n\n[[/old/]] [[/older/]] [[/start/older/]] [[/deep/oldest/]] [[{{< ref "given.md" >}}]] [[{{< ref "guide/slugged" >}}]] [[{{< relref "bundle" >}}]] [[{{< relref "bundle/index.md" >}}]] [[{{< relref path="start.md" lang="fr" >}}]] [[{{% ref "guide" %}}]]',
      "start.fr.md":
        '---\ntitle: Début\n---\n\n[[../]] [[/fr/start/]] [[{{< relref "start.md" >}}]] [[{{< relref "only.md" >}}]] [[/fr/only/]] [[/only/]] [[{{< ref "guide/keys" >}}]]',
      "_index.fr.md": "---\ntitle: Accueil\n---\n\n[[start/]] [[/fr/start/]]",
      "only.md":
        "---\ntitle: Only\n---\n\n[[/only/]] [[../start/]] ((/top.png)) ((/missing.png)) <<../start/>> <<../missing/>>",
      "given.md": "---\ntitle: Given\nurl: /given/address/\n---\n\n[[/given/address/]] [[/given/]] [[../../start/]]",
      "plain.md": "---\ntitle: Plain\nurl: plain/address.html\n---\n\n[[/plain/address.html]] [[/plain/]]",
      "guide/_index.md": '---\ntitle: Guide\n---\n\n[[keys/]] [[../start/]] [[{{< ref "keys" >}}]]',
      "guide/keys.md":
        "---\ntitle: Keys\n---\n\n## Scopes\n\n[[../slugged/]] [[../other-name/]] [[../../bundle/]] [[../../bundle/part/]] [[../]] [[/guide/]]",
      "guide/keys.fr.md": "---\ntitle: Clés\n---\n\n[[../../start/]] [[/fr/guide/keys/]] [[/fr/guide/]]",
      "guide/slugged.md": "---\ntitle: Slugged\nslug: other-name\n---\n\n[[/guide/other-name/]] [[/guide/slugged/]]",
      "bundle/index.md":
        "---\ntitle: Bundle\n---\n\n[[picture.png]] [[notes.txt]] [[part.md]] [[../start/]] [[/bundle/picture.png]] ((picture.png)) ((missing.png))",
      "bundle/part.md": "---\ntitle: Part\n---\n",
      "bundle/notes.txt": "Notes.",
      "bundle/picture.png": picture,
      "branch/_index.md": "---\ntitle: Branch\n---\n\n[[leaf/]] [[picture.png]]",
      "branch/leaf.md": "---\ntitle: Leaf\n---\n\n[[../picture.png]] [[picture.png]] [[../]]",
      "branch/picture.png": picture,
      "draft.md": "---\ntitle: Draft\ndraft: true\n---\n",
      "bare/leaf.md": "---\ntitle: Leaf\n---\n\n[[../]] [[/bare/]] [[/draft/]]",
    },
  },
  {
    name: "sphinx-forms",
    config: {
      "conf.py": `project = "Oracle"
extensions = ["myst_parser"]
html_theme = "basic"
myst_heading_anchors = 2
exclude_patterns = ["_build", "parts"]
`,
    },
    files: {
      "index.md":
        "# Home\n\n```{toctree}\n:glob:\n\nstart\nguide/*\n```\n\n[[start.md]] [[start]] [[guide/keys.md]] [[guide/keys]]",
      "start.md": `# Start

(by-label)=
## Labelled

### Too deep

\`\`\`{include} [+parts/part.md+]
\`\`\`

\`\`\`{include} [+/parts/rooted.md+]
\`\`\`

\`\`\`{literalinclude} [+parts/code.py+]
:language: python
\`\`\`

\`\`\`{include} [+parts/missing.md+]
\`\`\`

[[#labelled]] [[#too-deep]] [[#by-label]] [[#from-part]] [[#nowhere]] [[by-label]]`,
      "guide/keys.md": `# Keys

(keys-label)=

Text.

\`\`\`{figure} ../pixel.png
:name: a-figure

Figure.
\`\`\`

[[../start.md#labelled]] [[../start.md#too-deep]] [[../start.md#by-label]] [[../start.md#from-part]] [[../start.md#nowhere]] [[../start.md#Labelled]] [[#keys-label]] [[#keys]] [[by-label]] [[keys-label]] [[a-figure]] [[no-label]] [[/start]] [[/start.md]] [[/start.md#labelled]] [[../parts/part.md]] [[../pixel.png]] [[../notes.txt]] ((../pixel.png))

{doc}[../start] {doc}[/start] {doc}[keys] {doc}[../missing] {doc}[start] {doc}[../start.md] {ref}[by-label] {ref}[no-label] {any}[by-label] {numref}[a-figure]`,
      "notes.txt": "Notes.",
      "pixel.png": picture,
      "parts/part.md": part,
      "parts/rooted.md": "in_rooted",
      "parts/code.py": "in_code = 1",
    },
  },
  {
    name: "sphinx-plain",
    config: { "conf.py": 'project = "Oracle"\nextensions = ["myst_parser"]\nhtml_theme = "basic"\n' },
    files: {
      "index.md": "# Home\n\n(by-label)=\n## Labelled\n\n[[#labelled]] [[#by-label]] [[start.md#first]] [[start.md]]",
      "start.md": "# Start\n\n## First\n\n[[index.md#labelled]] [[index.md#by-label]] [[#first]] [[by-label]]",
    },
  },
  {
    name: "docsify-forms",
    config: { "index.html": docsifyPage("homepage: 'home.md', "), "_sidebar.md": "- [Start](start.md)\n" },
    files: {
      "home.md":
        "# Home\n\n<<#/guide/keys>> <<#/missing>> [[start.md]] [[/]] [[README.md]] [[files/a.txt ':ignore']] ((files/p.png)) ((/files/p.png))",
      "start.md":
        "# Start\n\n## Own :id=own-id\n\n## Own again {#braces}\n\n[[#own-id]] [[#Own-Id]] [[#own]] [[#braces]] [[guide/keys?id=one]] [[guide/]]",
      "guide/README.md":
        "# Guide\n\n[[guide/keys]] [[/guide/keys]] [[keys]] [[/guide/]] [[/guide]] [[/guide/README]] [[/home]]",
      "guide/keys.md":
        "# Keys\n\n## One\n\n[[/start?id=own-id]] [[/start?id=nowhere]] [[/files/b.txt ':ignore']] [[/]] ((near.png)) ((../files/p.png))",
      "guide/near.png": picture,
      "files/a.txt": "Notes.",
      "files/b.txt": "Notes.",
      "files/p.png": picture,
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
>>>>>>> 54edb77 (Follow doc roles, Fumadocs lists and tags that name their own folder)

const forms = /\[\[(.+?)\]\]|<<([^<>\n]+)>>|\(\(([^()\n]+)\)\)|\[=(.+?)=\]|\[\+(.+?)\+\]|(\{\w+\})\[([^\]]+)\]/g;

function layForms({ name, root = "", publicDir = root, config, files: pages }: FormSite): OracleSite {
  const files: Record<string, string> = { ...config };
  const marks = new Map<string, string>();
  const placed: PlacedLink[] = [];
  for (const [file, text] of Object.entries(pages)) {
    const path = file.startsWith("../../") ? file.replace("../..", "src") : underDir(root, file);
    const isPage = pageExtension.test(file) && !/(?:^|\/)(?:_?parts|snippets|drafts)\/|(?:^|\/)_part\./.test(file);
    const mark = `mark-${marks.size}-`;
    if (isPage) marks.set(path, mark);
    const place = (target: string, kind?: PlacedLink["kind"]): string => {
      const own = kind === "include" ? `in_${baseOf(target).replace(/^_|\.\w+$/g, "")}` : `case-${placed.length}-`;
      const from = file.replace(pageExtension, "");
      placed.push({ from, target, path, mark: own, ...(kind === undefined ? {} : { kind }) });
      return own;
    };
    const body = text.replace(
      forms,
      (
        _whole,
        link?: string,
        tag?: string,
        src?: string,
        prop?: string,
        file?: string,
        role?: string,
        name?: string,
      ) => {
        if (role !== undefined) return `${role}\`${place(`${role}\`${name}\``)} <${name}>\``;
        // A title is no part of the target.
        if (link !== undefined) return `[${place(link.replace(/ '.*'$/, ""))}](${link})`;
        if (tag !== undefined) return `<a href="${tag}">${place(tag, "href")}</a>`;
        if (src !== undefined) return `<img src="${src}" alt="${place(src, "src")}" />`;
        if (prop !== undefined) return `title="${place(prop, "href")}" href="${prop}"`;
        place(file ?? "", "include");
        return file ?? "";
      },
    );
    files[path] = text === picture ? picture : isPage ? `${body}\n\n${mark}\n` : `${body}\n`;
  }
  return {
    name,
    framework: name.replace(/-.*$/, ""),
    publicDir,
    files,
    marks,
    links: placed,
    headingsPath: "",
    headings: [],
    blocks: new Map(),
  };
}

export const oracleSites: readonly OracleSite[] = [...layoutSites, ...[...otherSites, ...reactSites].map(layForms)];
