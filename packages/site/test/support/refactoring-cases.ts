import { docsifyPage, fumadocsApp } from "../../oracles/scaffolds.ts";
import { docusaurusCases, nextraCases, starlightCases, vitepressCases } from "./javascript-refactoring-cases.ts";
import type { RefactoringCase, Step } from "./refactoring-case.ts";

const mkdocsCases: readonly RefactoringCase[] = [
  {
    framework: "mkdocs",
    name: "a page that goes up a folder",
    files: {
      "mkdocs.yml":
        "site_name: Acme\nnav:\n  - index.md\n  - Security:\n      - tutorial/security/first.md\n  - advanced/proxy.md\n",
      "docs/index.md": "# Home\n\n[first](tutorial/security/first.md#scopes)\n",
      "docs/tutorial/security/first.md":
        "# First\n\n## Scopes\n\n[proxy](../../advanced/proxy.md) [home](../../index.md)\n",
      "docs/advanced/proxy.md": "# Proxy\n\n[first](../tutorial/security/first.md)\n",
    },
    builder: {},
    steps: [{ move: "tutorial/security/first", to: "how-to/first" }],
    after: {
      "mkdocs.yml": ["      - how-to/first.md\n"],
      "docs/how-to/first.md": ["[proxy](../advanced/proxy.md) [home](../index.md)"],
    },
  },
];

/** Moves a page to another depth and name, then renames a heading, then merges one page into another. */
const steps: readonly Step[] = [
  { move: "guide/keys", to: "security/deep/api-keys" },
  { page: "security/deep/api-keys", heading: "Scopes", to: "Permissions of a key" },
  { remove: "guide/teams", to: "start" },
];

const hugoLayout = "<!doctype html><html><body>{{ .Content }}</body></html>\n";

const otherCases: readonly RefactoringCase[] = [
  {
    framework: "hugo",
    name: "addresses and references",
    files: {
      "hugo.toml": 'baseURL = "https://example.org/"\ndisableKinds = ["taxonomy", "term", "RSS", "sitemap"]\n',
      "content/_index.md":
        '---\ntitle: Home\n---\n\n[keys](guide/keys/#scopes) [ref]({{< ref "guide/keys.md" >}}) [teams](/guide/teams/)\n',
      "content/start.md":
        '---\ntitle: Start\n---\n\n[keys](../guide/keys/) [ref]({{< relref "keys#scopes" >}}) [rooted]({{< ref "/guide/keys" >}})\n',
      "content/guide/_index.md": "---\ntitle: Guide\n---\n\n[keys](keys/) [teams](teams/)\n",
      "content/guide/keys.md":
        '---\ntitle: Keys\n---\n\n## Scopes\n\n[own](#scopes) [teams](../teams/) [start](../../start/) [ref]({{< ref "teams.md" >}})\n',
      "content/guide/teams.md": '---\ntitle: Teams\n---\n\n[keys](../keys/#scopes) [ref]({{< ref "keys.md" >}})\n',
    },
    builder: { "layouts/_default/single.html": hugoLayout, "layouts/_default/list.html": hugoLayout },
    steps,
    after: {
      "content/_index.md": ["(security/deep/api-keys/#permissions-of-a-key)", "[teams](/start/)"],
      "content/security/deep/api-keys.md": ["[own](#permissions-of-a-key)", "[start](../../../start/)"],
    },
  },
  {
    framework: "jekyll",
    name: "link tags and a base path",
    base: "/base/",
    files: {
      "_config.yml": "title: Acme\nbaseurl: /base\n",
      Gemfile: 'source "https://rubygems.org"\ngem "jekyll"\n',
      "index.md":
        "---\ntitle: Home\nlayout: default\n---\n\n[keys]({% link guide/keys.md %}#scopes) [route]({{ '/guide/keys.html' | relative_url }}) [teams]({{ site.baseurl }}/guide/teams.html)\n",
      "start.md":
        "---\ntitle: Start\nlayout: default\n---\n\n[keys](guide/keys.html#scopes) [teams](guide/teams.html)\n",
      "guide/keys.md":
        "---\ntitle: Keys\nlayout: default\n---\n\n## Scopes\n\n[own](#scopes) [teams](teams.html) [start](../start.html)\n",
      "guide/teams.md":
        "---\ntitle: Teams\nlayout: default\n---\n\n[keys](keys.html) [tag]({% link guide/keys.md %})\n",
    },
    builder: { "_layouts/default.html": "<!doctype html><html><body>{{ content }}</body></html>\n" },
    steps,
    after: {
      "index.md": ["{% link security/deep/api-keys.md %}#permissions-of-a-key", "{{ site.baseurl }}/start.html"],
      "security/deep/api-keys.md": ["[start](../../start.html)"],
    },
  },
  {
    framework: "sphinx",
    name: "a table of contents and an included page",
    files: {
      "conf.py":
        'project = "Acme"\nextensions = ["myst_parser"]\nhtml_theme = "basic"\nmyst_heading_anchors = 3\nexclude_patterns = ["_build", "parts"]\n',
      "index.md":
        "# Home\n\n```{toctree}\nstart\nguide/keys\nTeams <guide/teams>\n```\n\n[keys](guide/keys.md#scopes) [teams](guide/teams)\n",
      "start.md":
        "# Start\n\n```{include} parts/part.md\n```\n\n[keys](guide/keys.md) [rooted](/guide/keys.md) {doc}`guide/keys` {doc}`guide/keys of old </guide/keys>`\n",
      "guide/keys.md":
        "# Keys\n\n(by-label)=\n## Scopes\n\n```{literalinclude} ../parts/code.py\n```\n\n[own](#scopes) [teams](teams.md) [start](../start.md) {doc}`teams`\n",
      "guide/teams.md": "# Teams\n\n[keys](keys.md#scopes) [label](by-label) {ref}`by-label`\n",
      "parts/part.md": "Text.\n",
      "parts/code.py": "x = 1\n",
    },
    builder: {},
    steps,
    after: {
      "index.md": ["start\nsecurity/deep/api-keys\n", "(security/deep/api-keys.md#permissions-of-a-key)"],
      "security/deep/api-keys.md": [
        "{literalinclude} ../../parts/code.py",
        "[start](../../start.md) {doc}`../../start`",
      ],
      "start.md": [
        "[rooted](/security/deep/api-keys.md)",
        "{doc}`security/deep/api-keys` {doc}`guide/keys of old </security/deep/api-keys>`",
      ],
    },
  },
  {
    framework: "mdbook",
    name: "a summary, included files and redirects",
    files: {
      "book.toml": '[book]\ntitle = "Acme"\n\n[output.html.redirect]\n"/old.html" = "guide/keys.html"\n',
      "src/SUMMARY.md":
        "# Summary\n\n- [Start](start.md)\n- [Guide](guide/README.md)\n  - [Keys](guide/keys.md)\n  - [Teams](guide/teams.md)\n",
      "src/start.md": "# Start\n\n[keys](guide/keys.md#scopes) [html](guide/keys.html) [teams](./guide/teams.md)\n",
      "src/guide/README.md": "# Guide\n\n[keys](keys.md)\n",
      "src/guide/keys.md":
        "# Keys\n\n{{#include ../parts/part.md}}\n\n## Scopes\n\n[own](#scopes) [teams](teams.md) [start](../start.md)\n",
      "src/guide/teams.md": "# Teams\n\n[keys](keys.md#scopes)\n",
      "src/parts/part.md": "Text.\n",
    },
    builder: {},
    steps,
    after: {
      "book.toml": [
        '"/guide/keys.html" = "../security/deep/api-keys.html"\n',
        '"/guide/teams.html" = "../start.html"\n',
        '"/old.html" = "guide/keys.html"\n',
      ],
      "src/SUMMARY.md": ["[Keys](security/deep/api-keys.md)"],
      "src/security/deep/api-keys.md": ["{{#include ../../parts/part.md}}", "[start](../../start.md)"],
    },
  },
  {
    framework: "docsify",
    name: "a sidebar and ids in queries",
    files: {
      "index.html": docsifyPage(""),
      "_sidebar.md": "- [Start](start.md)\n- [Keys](/guide/keys.md)\n- [Teams](guide/teams.md)\n",
      "README.md": "# Home\n\n[start](start.md) [keys](guide/keys?id=scopes)\n",
      "start.md": "# Start\n\n[keys](/guide/keys.md?id=scopes) [route](guide/keys) <a href='#/guide/keys'>tag</a>\n",
      "guide/keys.md": "# Keys\n\n## Scopes\n\n[own](#scopes) [teams](/guide/teams) [start](/start)\n",
      "guide/teams.md": "# Teams\n\n[keys](guide/keys.md#scopes) [start](start.md)\n",
    },
    builder: {},
    steps,
    after: {
      "_sidebar.md": ["- [Keys](/security/deep/api-keys.md)\n- [Teams](start.md)\n"],
      "README.md": ["[keys](security/deep/api-keys?id=permissions-of-a-key)"],
      "start.md": ["[route](security/deep/api-keys)", "<a href='#/security/deep/api-keys'>"],
      "security/deep/api-keys.md": ["[own](#permissions-of-a-key)", "[start](/start)"],
    },
  },
  {
    framework: "fumadocs",
    name: "lists of pages, files and addresses",
    files: {
      ...fumadocsApp,
      "content/docs/meta.json":
        '{\n  "pages": ["index", "---Guides---", "start", "guide/keys", "[Teams](/docs/guide/teams)", "..."]\n}\n',
      "content/docs/guide/meta.json": '{ "title": "Guide", "pages": ["keys", "teams", "!hidden"] }\n',
      "content/docs/index.mdx": "---\ntitle: Home\n---\n\n[keys](/docs/guide/keys#scopes) [file](./guide/keys.mdx)\n",
      "content/docs/start.mdx":
        "---\ntitle: Start\n---\n\n[file](./guide/keys.mdx#scopes) [near](guide/teams) <a href='/docs/guide/keys'>tag</a>\n",
      "content/docs/guide/keys.mdx":
        "---\ntitle: Keys\n---\n\n## Scopes\n\n[own](#scopes) [teams](./teams.mdx) [start](../start.mdx)\n",
      "content/docs/guide/teams.mdx": "---\ntitle: Teams\n---\n\n[keys](./keys.mdx) [start](/docs/start)\n",
    },
    builder: {},
    steps,
    after: {
      "content/docs/meta.json": ['"start", "security/deep/api-keys", '],
      "content/docs/guide/meta.json": ['"pages": ["../security/deep/api-keys", "!hidden"]'],
      "content/docs/index.mdx": [
        "(/docs/security/deep/api-keys#permissions-of-a-key)",
        "(./security/deep/api-keys.mdx)",
      ],
      "content/docs/security/deep/api-keys.mdx": ["[own](#permissions-of-a-key)", "[start](../../start.mdx)"],
    },
  },
  {
    framework: "mintlify",
    name: "navigation, redirects and snippets",
    files: {
      "docs.json": `{
  "$schema": "https://mintlify.com/docs.json",
  "theme": "mint",
  "name": "Acme",
  "colors": { "primary": "#000000" },
  "navigation": {
    "groups": [
      { "group": "Start", "pages": ["index", "start"] },
      { "group": "Guide", "pages": ["guide/keys", "guide/teams"] }
    ]
  },
  "redirects": [{ "source": "/old", "destination": "/guide/keys" }]
}
`,
      "index.mdx":
        '---\ntitle: Home\n---\n\n<Card title="Keys" href="/guide/keys">Text</Card>\n\n[keys](/guide/keys#scopes) [old](/old)\n',
      "start.mdx":
        '---\ntitle: Start\n---\n\nimport Part from "/snippets/part.mdx";\n\n<Part />\n\n[keys](./guide/keys) [file](guide/keys.mdx)\n',
      "guide/keys.mdx": "---\ntitle: Keys\n---\n\n## Scopes\n\n[own](#scopes) [teams](./teams) [start](../start)\n",
      "guide/teams.mdx": "---\ntitle: Teams\n---\n\n[keys](/guide/keys#scopes) [start](/start)\n",
      "snippets/part.mdx": "See [keys](/guide/keys) and [teams](/guide/teams).\n",
    },
    builder: {},
    steps,
    after: {
      "docs.json": [
        '"pages": ["security/deep/api-keys"]',
        '{ "source": "/old", "destination": "/security/deep/api-keys" }',
        '{ "source": "/guide/teams", "destination": "/start" }',
      ],
      "index.mdx": ['href="/security/deep/api-keys"', "(/security/deep/api-keys#permissions-of-a-key)"],
      "security/deep/api-keys.mdx": ["[own](#permissions-of-a-key)", "[start](../../start)"],
      "snippets/part.mdx": ["[keys](/security/deep/api-keys) and [teams](/start)"],
    },
  },
];

export const refactoringCases: readonly RefactoringCase[] = [
  ...starlightCases,
  ...docusaurusCases,
  ...nextraCases,
  ...vitepressCases,
  ...mkdocsCases,
  ...otherCases,
];
