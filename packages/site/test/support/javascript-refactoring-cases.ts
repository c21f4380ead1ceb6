import type { Files } from "./memory-tree.ts";
import type { RefactoringCase } from "./refactoring-case.ts";

const starlightBuilder: Files = {
  "src/content.config.ts": `import { defineCollection } from 'astro:content';
import { docsLoader } from '@astrojs/starlight/loaders';
import { docsSchema } from '@astrojs/starlight/schema';
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`,
};

function starlight(options: string, starlightOptions: string): string {
  return `import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';

export default defineConfig({
${options}  integrations: [
    starlight({
      title: 'Acme',
${starlightOptions}    }),
  ],
});
`;
}

export const starlightCases: readonly RefactoringCase[] = [
  {
    framework: "starlight",
    name: "a sidebar of strings",
    files: {
      "astro.config.mjs": starlight(
        "",
        `      sidebar: [
        'start',
        { label: 'Guides', items: ['guides/keys', { slug: 'guides/teams' }, { label: 'Again', link: '/guides/keys/' }] },
      ],
`,
      ),
      "src/content/docs/index.mdx":
        "---\ntitle: Home\nhero:\n  actions:\n    - text: Keys\n      link: /guides/keys/\n---\n\n[keys](/guides/keys/#scopes)\n",
      "src/content/docs/start.md": "---\ntitle: Start\n---\n\n[keys](../guides/keys/)\n",
      "src/content/docs/guides/keys.md": "---\ntitle: Keys\n---\n\n## Scopes\n\n[start](/start/) [teams](../teams/)\n",
      "src/content/docs/guides/teams.md": "---\ntitle: Teams\n---\n\n[keys](../keys/)\n",
    },
    builder: starlightBuilder,
    steps: [{ move: "guides/keys", to: "security/api-keys" }],
    after: {
      "astro.config.mjs": ["items: ['security/api-keys', { slug: 'guides/teams' }", "link: '/security/api-keys/'"],
      "src/content/docs/index.mdx": ["      link: /security/api-keys/\n"],
    },
  },
  {
    framework: "starlight",
    name: "languages below their names",
    files: {
      "src/content/docs/en/index.md": "---\ntitle: Home\n---\n",
      "src/content/docs/de/index.md": "---\ntitle: Home\n---\n",
      "astro.config.mjs": starlight(
        "",
        `      defaultLocale: 'en',
      locales: { en: { label: 'English', lang: 'en' }, de: { label: 'Deutsch', lang: 'de' } },
      sidebar: ['start', { slug: 'guides/keys' }],
`,
      ),
      "src/content/docs/en/start.md": "---\ntitle: Start\n---\n\n[keys](/en/guides/keys/)\n",
      "src/content/docs/en/guides/keys.md": "---\ntitle: Keys\n---\n\n[start](../../start/)\n",
      "src/content/docs/de/start.md": "---\ntitle: Start\n---\n\n[keys](/de/guides/keys/)\n",
      "src/content/docs/de/guides/keys.md": "---\ntitle: Schlüssel\n---\n\n[start](../../start/)\n",
    },
    builder: starlightBuilder,
    steps: [{ move: "en/guides/keys", to: "en/security/api-keys" }],
    after: {
      "astro.config.mjs": ["sidebar: ['start', { slug: 'security/api-keys' }]"],
      "src/content/docs/de/start.md": ["[keys](/de/security/api-keys/)"],
      "src/content/docs/de/security/api-keys.md": ["[start](../../start/)"],
    },
  },
  {
    framework: "starlight",
    name: "a base path",
    base: "/docs/",
    files: {
      "src/content/docs/index.md": "---\ntitle: Home\n---\n",
      "astro.config.mjs": starlight(
        "  base: '/docs',\n  redirects: { '/old': '/docs/guides/keys' },\n",
        "      sidebar: ['start', { label: 'Keys', link: '/guides/keys/' }],\n",
      ),
      "src/content/docs/start.md": "---\ntitle: Start\n---\n\n[keys](/docs/guides/keys/)\n",
      "src/content/docs/guides/keys.md": "---\ntitle: Keys\n---\n\n[start](/docs/start/)\n",
    },
    builder: starlightBuilder,
    steps: [{ move: "/docs/guides/keys", to: "/docs/security/api-keys" }],
    after: {
      "astro.config.mjs": [
        "link: '/security/api-keys/'",
        "'/old': '/docs/security/api-keys'",
        "'/guides/keys': '/docs/security/api-keys'",
      ],
      "src/content/docs/start.md": ["[keys](/docs/security/api-keys/)"],
      "src/content/docs/security/api-keys.md": ["[start](/docs/start/)"],
    },
  },
  {
    framework: "starlight",
    name: "a folder that the sidebar lists by itself",
    files: {
      "src/content/docs/index.md": "---\ntitle: Home\n---\n",
      "astro.config.mjs": starlight(
        "",
        "      sidebar: ['start', { label: 'Guides', items: [{ autogenerate: { directory: 'guides' } }] }],\n",
      ),
      "src/content/docs/start.md": "---\ntitle: Start\n---\n\n[keys](/guides/keys/)\n",
      "src/content/docs/guides/keys.md": "---\ntitle: Keys\n---\n\n[start](/start/)\n",
      "src/content/docs/guides/teams.md": "---\ntitle: Teams\n---\n\n[keys](../keys/)\n",
    },
    builder: starlightBuilder,
    steps: [{ move: "guides", to: "how-to" }],
    after: {
      "astro.config.mjs": ["autogenerate: { directory: 'how-to' }"],
      "src/content/docs/how-to/teams.md": ["[keys](../keys/)"],
    },
  },
];

const docusaurusBuilder: Files = {
  // The generated code is CommonJS.
  "package.json": '{ "private": true }\n',
  "src/pages/index.md": "# Home\n",
};

function docusaurus(options: string, docs: string, theme: string, redirects = ""): string {
  return `export default {
  title: 'Acme',
  url: 'https://acme.example',
${options}  onBrokenLinks: 'throw',
  onBrokenAnchors: 'throw',
  markdown: { hooks: { onBrokenMarkdownLinks: 'throw' } },
  presets: [['classic', { docs: { sidebarPath: './sidebars.js'${docs} }, blog: false }]],
  plugins: [
    ['@docusaurus/plugin-client-redirects', { redirects: [${redirects}] }],
  ],
  themeConfig: {
${theme}  },
};
`;
}

export const docusaurusCases: readonly RefactoringCase[] = [
  {
    framework: "docusaurus",
    name: "every place that names a document by its id",
    files: {
      "docusaurus.config.js": docusaurus(
        "  baseUrl: '/',\n",
        "",
        `    navbar: {
      items: [
        { type: 'doc', docId: 'guides/keys', label: 'Keys' },
        { to: '/docs/guides/keys', label: 'By route' },
      ],
    },
    footer: { links: [{ title: 'Docs', items: [{ label: 'Keys', to: '/docs/guides/keys#scopes' }] }] },
`,
        "\n      { from: '/old', to: '/docs/start' },\n    ",
      ),
      "sidebars.js": `export default {
  docs: [
    'start',
    { type: 'category', label: 'Guides', link: { type: 'doc', id: 'guides/keys' }, items: ['guides/teams'] },
    { type: 'ref', id: 'guides/keys' },
  ],
  grown: [{ type: 'autogenerated', dirName: 'grown' }],
};
`,
      "docs/start.md":
        "---\npagination_next: guides/keys\n---\n\n# Start\n\n[keys](./guides/keys.md#scopes) [route](/docs/guides/keys)\n",
      "docs/guides/keys.md": "# Keys\n\n## Scopes\n\n[teams](teams.md) [start](../start.md)\n",
      "docs/guides/teams.md": "# Teams\n\n[keys](./keys.md)\n",
      "docs/grown/_category_.json": '{ "label": "Grown", "link": { "type": "doc", "id": "first" } }\n',
      "docs/grown/first.md": "# First\n\n[keys](../guides/keys.md)\n",
      "docs/grown/second.md": "# Second\n",
    },
    builder: docusaurusBuilder,
    steps: [
      { move: "guides/keys", to: "security/api-keys" },
      { move: "docs/grown/first.md", to: "docs/grown/opening.md" },
    ],
    after: {
      "sidebars.js": ["link: { type: 'doc', id: 'security/api-keys' }", "{ type: 'ref', id: 'security/api-keys' }"],
      "docusaurus.config.js": [
        "docId: 'security/api-keys'",
        "{ to: '/docs/security/api-keys', label",
        "to: '/docs/security/api-keys#scopes'",
        "{ from: '/docs/guides/keys', to: '/docs/security/api-keys' }",
      ],
      "docs/start.md": ["pagination_next: security/api-keys\n"],
      "docs/grown/_category_.json": ['"id": "opening"'],
    },
  },
  {
    framework: "docusaurus",
    name: "versions and a base path",
    base: "/acme/",
    files: {
      "docusaurus.config.js": docusaurus(
        "  baseUrl: '/acme/',\n",
        "",
        "",
        "\n      { from: '/old', to: '/docs/start' },\n    ",
      ),
      "sidebars.js": "export default { docs: ['start', 'guides/keys'] };\n",
      "versions.json": '["1.0"]\n',
      "docs/start.md": "# Start\n\n[keys](./guides/keys.md) [based](pathname:///acme/docs/start)\n",
      "docs/guides/keys.md": "# Keys\n\n[start](../start.md) [old](/docs/guides/keys)\n",
      "versioned_docs/version-1.0/start.md": "# Start\n\n[keys](./guides/keys.md)\n",
      "versioned_docs/version-1.0/guides/keys.md": "# Keys\n\n[start](../start.md)\n",
      "versioned_sidebars/version-1.0-sidebars.json": '{ "docs": ["start", "guides/keys"] }\n',
    },
    builder: docusaurusBuilder,
    steps: [{ move: "docs/guides/keys", to: "security/api-keys" }],
    after: {
      "sidebars.js": ["['start', 'security/api-keys']"],
      "docusaurus.config.js": ["{ from: '/docs/next/guides/keys', to: '/docs/next/security/api-keys' }"],
      "versioned_sidebars/version-1.0-sidebars.json": ['["start", "guides/keys"]'],
      "versioned_docs/version-1.0/start.md": ["[keys](./guides/keys.md)"],
      "docs/security/api-keys.md": ["[start](../start.md) [old](/docs/guides/keys)"],
    },
  },
  {
    framework: "docusaurus",
    name: "a translation",
    files: {
      "docusaurus.config.js": docusaurus(
        "  baseUrl: '/',\n  i18n: { defaultLocale: 'en', locales: ['en', 'fr'] },\n",
        "",
        "",
        "\n      { from: '/old', to: '/docs/start' },\n    ",
      ),
      "sidebars.js": "export default { docs: ['start', 'guides/keys'] };\n",
      "docs/start.md": "# Start\n\n[keys](./guides/keys.md)\n",
      "docs/guides/keys.md": "# Keys\n\n[start](../start.md)\n",
      "i18n/fr/docusaurus-plugin-content-docs/current/start.md": "# Début\n\n[clés](./guides/keys.md)\n",
      "i18n/fr/docusaurus-plugin-content-docs/current/guides/keys.md": "# Clés\n\n[début](../start.md)\n",
    },
    builder: docusaurusBuilder,
    steps: [{ move: "docs/guides/keys", to: "docs/keys" }],
    after: {
      "i18n/fr/docusaurus-plugin-content-docs/current/start.md": ["[clés](./keys.md)"],
      "i18n/fr/docusaurus-plugin-content-docs/current/keys.md": ["[début](./start.md)"],
      "docusaurus.config.js": ["{ from: '/docs/guides/keys', to: '/docs/keys' }"],
    },
  },
];

const nextraBuilder: Files = {
  "app/layout.jsx": `import { Layout } from 'nextra-theme-docs'
import { getPageMap } from 'nextra/page-map'
export default async function RootLayout({ children }) {
  return (<html lang="en"><body><Layout pageMap={await getPageMap()}>{children}</Layout></body></html>)
}
`,
  "app/[[...mdxPath]]/page.jsx": `import { generateStaticParamsFor, importPage } from 'nextra/pages'
export const generateStaticParams = generateStaticParamsFor('mdxPath')
export default async function Page(props) {
  const params = await props.params
  const { default: MDXContent } = await importPage(params.mdxPath)
  return <MDXContent params={params} />
}
`,
  "mdx-components.js": `import { useMDXComponents as themed } from 'nextra-theme-docs'
export const useMDXComponents = (components) => ({ ...themed(), ...components })
`,
};

const nextConfig = `import nextra from 'nextra'

export default nextra({})({
  async redirects() {
    return [
      { source: '/old', destination: '/guides/keys', permanent: true },
    ]
  },
})
`;

export const nextraCases: readonly RefactoringCase[] = [
  {
    framework: "nextra",
    name: "a redirect and a folder of its own",
    files: {
      "next.config.mjs": nextConfig,
      "content/_meta.js": "export default {\n  index: 'Home',\n  guides: 'Guides'\n}\n",
      "content/guides/_meta.js": "export default {\n  keys: 'Keys',\n  teams: 'Teams'\n}\n",
      "content/index.mdx": "# Home\n\n[keys](/guides/keys#scopes)\n",
      "content/guides/keys.mdx": "# Keys\n\n## Scopes\n\n[teams](./teams)\n",
      "content/guides/teams.mdx": "# Teams\n\n[keys](./keys.mdx)\n",
    },
    builder: nextraBuilder,
    steps: [
      { move: "guides/keys", to: "security/api-keys" },
      { move: "guides", to: "how-to" },
    ],
    after: {
      "next.config.mjs": [
        "{ source: '/old', destination: '/security/api-keys', permanent: true }",
        "{ source: '/guides/keys', destination: '/security/api-keys', permanent: true }",
        "{ source: '/guides/teams', destination: '/how-to/teams', permanent: true }",
      ],
      "content/_meta.js": ["  'how-to': 'Guides'\n"],
      "content/how-to/_meta.js": ["{\n  teams: 'Teams'\n}"],
    },
  },
  {
    framework: "nextra",
    name: "one file for the whole navigation",
    files: {
      "next.config.mjs": nextConfig,
      "app/_meta.global.js": `export default {
  index: 'Home',
  guides: {
    type: 'page',
    title: 'Guides',
    items: {
      keys: 'Keys',
      teams: { title: 'Teams' },
    },
  },
}
`,
      "content/index.mdx": "# Home\n\n[keys](/guides/keys)\n",
      "content/guides/keys.mdx": "# Keys\n\n[teams](./teams)\n",
      "content/guides/teams.mdx": "# Teams\n\n[keys](./keys.mdx)\n",
    },
    builder: nextraBuilder,
    steps: [
      { move: "guides/keys", to: "guides/api-keys" },
      { move: "guides/teams", to: "teams" },
    ],
    after: {
      "app/_meta.global.js": ["    items: {\n      'api-keys': 'Keys',\n    },", "  teams: { title: 'Teams' }"],
    },
  },
];

export const vitepressCases: readonly RefactoringCase[] = [
  {
    framework: "vitepress",
    name: "a base path and languages",
    base: "/acme/",
    files: {
      "docs/.vitepress/config.mjs": `import { defineConfig } from 'vitepress'

export default defineConfig({
  base: '/acme/',
  locales: { root: { label: 'English', lang: 'en' }, fr: { label: 'Français', lang: 'fr' } },
  themeConfig: {
    nav: [{ text: 'Keys', link: '/guides/keys', activeMatch: '/guides/' }],
    sidebar: [{ text: 'Guides', items: [{ text: 'Keys', link: '/guides/keys#scopes' }, { text: 'Start', link: '/start' }] }],
  },
})
`,
      "docs/index.md":
        "---\nlayout: home\nhero:\n  name: Acme\n  actions:\n    - text: Keys\n      link: /guides/keys\n---\n\n[keys](/guides/keys.html#scopes) [rel](./guides/keys)\n",
      "docs/start.md": "# Start\n\n<!--@include: ./guides/keys.md-->\n",
      "docs/guides/keys.md": "# Keys\n\n## Scopes\n\nSee [home](/)\n",
      "docs/fr/index.md": "# Accueil\n",
      "docs/fr/start.md": "# Début\n\n[clés](./guides/keys.md)\n",
      "docs/fr/guides/keys.md": "# Clés\n\n[début](../start.md)\n",
    },
    builder: {},
    steps: [{ move: "guides/keys", to: "security/deep/api-keys" }],
    after: {
      "docs/.vitepress/config.mjs": [
        "link: '/security/deep/api-keys', activeMatch",
        "link: '/security/deep/api-keys#scopes'",
      ],
      "docs/index.md": ["      link: /security/deep/api-keys\n", "(/security/deep/api-keys.html#scopes)"],
      "docs/start.md": ["<!--@include: ./security/deep/api-keys.md-->"],
      "docs/fr/start.md": ["[clés](./security/deep/api-keys.md)"],
      "docs/fr/security/deep/api-keys.md": ["[début](../../start.md)"],
    },
  },
];
