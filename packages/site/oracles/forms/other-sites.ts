import { type FormSite, part, picture } from "../oracle-site.ts";
import { docsifyPage, hugoLayout, starlightCollections, vitepressConfig } from "../scaffolds.ts";

/** The sites of all frameworks that do not use React. */
export const otherSites: readonly FormSite[] = [
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
];
