import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { judgeEdit } from "../test/judge-edit.ts";

type Edit = readonly [builder: string, path: string, text: string];

/** What three readers of the rule got past it, each with an effect in a real builder or browser. */
const edits: readonly Edit[] = JSON.parse(
  readFileSync(new URL("../test/fixtures/attacked-edits.json", import.meta.url), "utf8"),
);
const page = "# Home\n\nSee [us](https://known.test/a).\n";
/** What each edit was made to, with navigation and constructs that an edit may use again. */
const bases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sphinx: { "docs/conf.py": "", "docs/index.rst": "Home\n====\n\nSee `us <https://known.test/a>`_.\n" },
  antora: {
    "antora.yml": "name: docs\n",
    "modules/ROOT/pages/index.adoc": "= Home\n\nSee https://known.test/a[us].\n\n|===\na| A cell.\n|===\n",
  },
  sphinxraw: {
    "docs/conf.py": "",
    "docs/index.rst":
      "Home\n====\n\nSee `us <https://known.test/a>`_.\n\n.. raw:: html\n\n   <br>\n\n.. plot::\n\n   x = 1\n",
  },
  antoraraw: {
    "antora.yml": "name: docs\n",
    "modules/ROOT/pages/index.adoc": "= Home\n\nSee https://known.test/a[us].\n\n++++\n<br>\n++++\n\n[pass]\n<br>\n",
  },
  superfences: {
    "mkdocs.yml": "site_name: Docs\nmarkdown_extensions:\n  - pymdownx.superfences\nnav:\n  - Home: index.md\n",
    "docs/index.md": page,
  },
  docusaurus: {
    "docusaurus.config.js":
      "module.exports = {\n  title: 'Docs',\n  themeConfig: { navbar: { items: [{ label: 'a', to: '/a' }] } },\n};\n",
    "sidebars.js": 'module.exports = { docs: ["index"] };\n',
    "docs/index.mdx": page,
  },
  mkdocs: {
    "mkdocs.yml":
      "site_name: Docs\nplugins:\n  - redirects:\n      redirect_maps:\n        'old.md': 'index.md'\nnav:\n  - Home: index.md\n",
    "docs/index.md": page,
  },
  hugo: {
    "hugo.toml": 'title = "Docs"\n\n[[menu.main]]\nname = "Home"\nurl = "/"\n',
    "content/index.md": page,
  },
  jekyll: { "_config.yml": "title: Docs\n", "index.md": page, "_data/nav.yml": "- title: Home\n  url: /\n" },
  vitepress: {
    ".vitepress/config.ts":
      "import { defineConfig } from 'vitepress'\n\nexport default defineConfig({\n  themeConfig: { nav: [{ text: 'Home', link: '/' }] },\n})\n",
    "index.md": page,
  },
  starlight: {
    "astro.config.mjs":
      "import starlight from '@astrojs/starlight';\nexport default { integrations: [starlight({ title: 'Docs', sidebar: [{ label: 'a', link: '/a' }] })] };\n",
    "src/content/docs/index.md": page,
  },
  netlify: { "netlify.toml": '[[redirects]]\nfrom = "/old"\nto = "/new"\n', "index.md": page },
  fumadocs: { "source.config.ts": "", "docs/index.mdx": page },
};

it.each(edits)("refuses in %s, %s: %j", async (builder, path, text) => {
  expect((await judgeEdit(bases[builder] ?? {}, path, text)).violations).not.toEqual([]);
});
