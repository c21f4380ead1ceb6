import type { Files } from "./memory-tree.ts";
import { mintlifySite } from "./mintlify-site.ts";

export interface SampleSite {
  name: string;
  files: Files;
  /** A page that others link to, and its new path. */
  page: string;
  to: string;
  /** Its route, and the navigation and redirects after the move. */
  route: string;
  after: Record<string, string>;
  /** A page to add, its group, and the navigation afterwards. */
  added?: { path: string; group?: string; listed: Record<string, string> };
}

const key = "---\ntitle: Keys\n---\n\n# Keys\n\n## Scopes\n\nSee [start](../start.md) and ![d](../img/d.png).\n";

/** One small site without problems for each framework. */
export const sampleSites: readonly SampleSite[] = [
  {
    name: "mintlify",
    files: {
      ...mintlifySite,
      "guides/billing.mdx": "---\ntitle: Billing\n---\n\n[a](./auth) [b](./auth.mdx#keys)\n",
      "quickstart.mdx": "# Quick\n",
    },
    page: "guides/auth",
    to: "security/authentication",
    route: "/guides/auth",
    after: { "docs.json": '"source": "/guides/auth", "destination": "/security/authentication"' },
    added: { path: "guides/new", group: "Guides", listed: { "docs.json": '"guides/new"' } },
  },
  {
    name: "docusaurus",
    files: {
      "docusaurus.config.js": `export default {
  baseUrl: '/',
  presets: [['classic', { docs: { sidebarPath: './sidebars.js' }, blog: false }]],
  plugins: [
    ['@docusaurus/plugin-client-redirects', {
      redirects: [
        { from: '/old', to: '/docs/start' },
      ],
    }],
  ],
};
`,
      "sidebars.js": `module.exports = {
  docs: [
    'start', // the first page
    {
      type: 'category',
      label: 'Guides',
      items: ['guides/keys', 'guides/teams'],
    },
  ],
};
`,
      "docs/01-start.md":
        "# Start\n\n[keys](./guides/keys.md#scopes), [by route](/docs/guides/keys), [site](@site/docs/guides/keys.md)\n",
      "docs/guides/keys.md":
        "# Keys\n\n## Scopes\n\nSee [start](../01-start.md) and ![d](/img/d.png).\n\n:::tip\n\n[teams](./teams.md)\n\n:::\n",
      "docs/guides/teams.md": "---\nslug: people\n---\n\n# Teams\n\n[keys](./keys.md)\n",
      "docs/guides/_part.md": "Shared text.\n",
      "static/img/d.png": "png",
    },
    page: "docs/guides/keys",
    to: "docs/security/api-keys",
    route: "/docs/guides/keys",
    after: {
      "sidebars.js": "['security/api-keys', 'guides/teams']",
      "docusaurus.config.js": "{ from: '/docs/guides/keys', to: '/docs/security/api-keys' }",
    },
    added: { path: "docs/guides/new", group: "Guides", listed: { "sidebars.js": "'guides/teams', 'guides/new']" } },
  },
  {
    name: "mkdocs",
    files: {
      "mkdocs.yml": `site_name: Acme # the name
nav:
  - Home: index.md
  - Guides:
      - Keys: guides/keys.md
      - guides/teams.md
  - Start: start.md
plugins:
  - search
  - redirects:
      redirect_maps:
        'old.md': 'index.md'
markdown_extensions:
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
`,
      "docs/index.md":
        '# Home\n\n!!! note\n    Read [keys](guides/keys.md#scopes).\n\n=== "Tab"\n\n    And [again](./guides/keys.md)\n',
      "docs/start.md": "# Start\n",
      "docs/guides/keys.md": key,
      "docs/guides/teams.md": "# Teams\n\n[keys](./keys.md)\n",
      "docs/img/d.png": "png",
    },
    page: "guides/keys",
    to: "security/api-keys",
    route: "/guides/keys/",
    after: { "mkdocs.yml": "      - Keys: security/api-keys.md\n" },
    added: {
      path: "guides/new",
      group: "Guides",
      listed: { "mkdocs.yml": "      - guides/teams.md\n      - New page: guides/new.md\n" },
    },
  },
  {
    name: "vitepress",
    files: {
      "docs/.vitepress/config.ts": `import { defineConfig } from 'vitepress'
export default defineConfig({
  themeConfig: {
    sidebar: [
      { text: 'Guides', items: [{ text: 'Keys', link: '/guides/keys' }, { text: 'Start', link: '/start' }] },
    ],
  },
})
`,
      "docs/index.md": "---\nlayout: home\n---\n\n[keys](/guides/keys.html#scopes) [rel](./guides/keys)\n",
      "docs/start.md": "# Start\n\n<!--@include: ./parts/shared.md-->\n",
      "docs/parts/shared.md": "## Shared\n",
      "docs/guides/keys.md": "# Keys\n\n## Scopes\n\nSee [start](../start.md) [shared](/start#shared) ![d](/d.png)\n",
      "docs/public/d.png": "png",
      "docs/public/_redirects": "/old /start 301\n",
    },
    page: "guides/keys",
    to: "security/api-keys",
    route: "/guides/keys",
    after: {
      "docs/.vitepress/config.ts": "link: '/security/api-keys' }",
      "docs/public/_redirects": "/old /start 301\n/guides/keys /security/api-keys 301\n",
    },
    added: {
      path: "guides/new",
      group: "Guides",
      listed: { "docs/.vitepress/config.ts": "{ text: 'New page', link: '/guides/new' }]" },
    },
  },
  {
    name: "starlight",
    files: {
      "astro.config.mjs": `import starlight from '@astrojs/starlight';
export default defineConfig({
  integrations: [
    starlight({
      sidebar: [
        { label: 'Guides', items: [{ label: 'Keys', slug: 'guides/keys' }] },
        { label: 'Start', link: '/start/' },
      ],
    }),
  ],
});
`,
      "src/content/docs/index.mdx": "---\ntitle: Home\n---\n\n[keys](/guides/keys/#scopes)\n",
      "src/content/docs/start.md": "---\ntitle: Start\n---\n\n[keys](../guides/keys/)\n",
      "src/content/docs/guides/keys.md":
        "---\ntitle: Keys\n---\n\n## Scopes\n\n[start](/start/) ![d](../../../assets/d.png)\n",
      "src/assets/d.png": "png",
    },
    page: "guides/keys",
    to: "security/api-keys",
    route: "/guides/keys/",
    after: { "astro.config.mjs": "'/guides/keys': '/security/api-keys'" },
    added: {
      path: "guides/new",
      group: "Guides",
      listed: { "astro.config.mjs": "{ label: 'New page', slug: 'guides/new' }]" },
    },
  },
  {
    name: "nextra",
    files: {
      "next.config.mjs": "import nextra from 'nextra'\nexport default nextra({})({})\n",
      "content/_meta.js": "export default {\n  index: 'Home',\n  guides: 'Guides'\n}\n",
      "content/guides/_meta.js": "export default {\n  keys: 'Keys',\n  teams: 'Teams'\n}\n",
      "content/index.mdx": "# Home\n\n[keys](/guides/keys#scopes)\n",
      "content/guides/keys.mdx": "# Keys\n\n## Scopes\n\n[teams](./teams)\n",
      "content/guides/teams.mdx": "# Teams\n\n[keys](./keys.mdx)\n",
    },
    page: "guides/keys",
    to: "guides/api-keys",
    route: "/guides/keys",
    after: { "content/guides/_meta.js": "  'api-keys': 'Keys',\n" },
  },
  {
    name: "gitbook",
    files: {
      "SUMMARY.md":
        "# Table of contents\n\n* [Home](README.md)\n* [Start](start.md)\n\n## Guides\n\n* [Keys](guides/keys.md)\n  * [Scopes](guides/scopes.md)\n",
      "README.md":
        '# Home\n\n[keys](guides/keys.md#scopes)\n\n{% content-ref url="guides/keys.md" %}\n[keys.md](guides/keys.md)\n{% endcontent-ref %}\n',
      "start.md": "# Start\n",
      "guides/keys.md": "# Keys\n\n## Scopes\n\n[start](../start.md) ![d](../.gitbook/assets/d.png)\n",
      "guides/scopes.md": "# Scopes\n\n[keys](./keys.md)\n",
      ".gitbook/assets/d.png": "png",
    },
    page: "guides/keys",
    to: "security/api-keys",
    route: "/guides/keys",
    after: {
      "SUMMARY.md": "* [Keys](security/api-keys.md)\n",
      ".gitbook.yaml": "redirects:\n  guides/keys: security/api-keys\n",
    },
    added: {
      path: "guides/new",
      group: "Guides",
      listed: { "SUMMARY.md": "  * [Scopes](guides/scopes.md)\n* [New page](guides/new.md)\n" },
    },
  },
  {
    name: "markdown",
    files: {
      "README.md":
        "# Home\n\n[keys](docs/keys.md#scopes) [folder](docs/) [external](https://x.y/z) [mail](mailto:a@b.c)\n",
      "docs/keys.md": "# Keys\n\n## Scopes\n\n[home](../README.md) [teams](./teams.md)\n",
      "docs/teams.md": "# Teams\n\n[keys](./keys.md) [root](/docs/keys.md)\n",
    },
    page: "docs/keys.md",
    to: "security/api-keys.md",
    route: "/docs/keys",
    after: { "README.md": "[keys](security/api-keys.md#scopes)" },
  },
];
