import { judgeEdit } from "./judge-edit.ts";

const page = "# Home\n\nSee [us](https://known.test/a).\n";
export const long = `<script>\n${"let a = 1; // a component of many lines\n".repeat(80)}</script>`;

/** Small sites of each builder. */
const sites = {
  mkdocs: {
    "mkdocs.yml":
      "site_name: Docs\nplugins:\n  - llmstxt:\n      sections:\n        A:\n          - a.md\n# see below\nnav:\n  - Home: index.md\n",
    "docs/index.md": page,
  },
  vitepress: {
    ".vitepress/config.ts":
      "import { defineConfig } from 'vitepress'\n\nconst Guides: Item[] = [\n  { text: 'A', link: '/guide/a' },\n]\n\nexport default defineConfig({\n  // the start\n  themeConfig: { nav: [{ text: 'Home', link: '/' }] },\n})\n",
    "index.md": page,
    "long.md": `# Long\n\n${long}\n\n<Badge type="tip" text="new" />\n`,
    "fence.md": "# Fence\n\n```js\n{{ config.secret }}\n<img src=x onerror=alert(1)>\n```\n\nEnd.\n",
  },
  docusaurus: {
    "docusaurus.config.js":
      "module.exports = {\n  title: 'Docs',\n  themeConfig: { navbar: { items: [{ label: 'a', to: '/a' }] } },\n};\n",
    "sidebars.js": 'module.exports = { docs: ["index"] };\n',
    "docs/index.mdx": page,
  },
  starlight: {
    "astro.config.mjs":
      "import starlight from '@astrojs/starlight';\nexport default { integrations: [starlight({ title: 'Docs', sidebar: [{ label: 'a', link: '/a' }] })] };\n",
    "src/content/docs/index.md": page,
  },
  jekyll: {
    "_config.yml": "title: Docs\nnav:\n  - index.md\n",
    "index.md": `---\nspelling: a\npermalink: /home/\n---\n\n${page}`,
    "docs/guide.md": page,
  },
  hugo: {
    "hugo.toml": 'title = "Docs"\n\n[[menu.main]]\nname = "Home"\nurl = "/"\n',
    "content/index.md": `${page}\n{{< youtube id="a_1" title="Some words" >}}\n`,
  },
  sphinx: {
    "docs/conf.py": "",
    "docs/roles.rst": "Roles\n=====\n\n:gh-user:`someone`\n",
    "docs/index.rst": "Home\n====\n\nSee `us <https://known.test/a>`_.\n",
  },
  antora: {
    "antora.yml": "name: docs\n",
    "modules/ROOT/pages/index.adoc": "= Home\n:objective-1: Read this\n\nSee https://known.test/a[us].\n",
  },
  nextra: {
    "next.config.mjs": "export default {}\n",
    "content/_meta.js": "export default { index: 'Home' }\n",
    "content/index.mdx": `${page}\n<include>./other.mdx</include>\n`,
  },
} satisfies Record<string, Record<string, string>>;
export type Site = keyof typeof sites;

export const judge = (site: Site, path: string, text: string | Buffer) =>
  judgeEdit(sites[site] as Record<string, string>, path, text);

export const file = (site: Site, path: string) => (sites[site] as Record<string, string>)[path] ?? "";
