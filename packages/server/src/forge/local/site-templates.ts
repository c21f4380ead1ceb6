import type { GivenFile } from "./fill-repository.ts";

const body = "Write here how to take the first step.";
const page = (title: string, text: string) => `# ${title}\n\n${text}\n`;
const titled = (title: string, text: string) => `---\ntitle: ${title}\n---\n\n${text}\n`;
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

/** The first files of a docs site, by framework. Each builds with its framework's own defaults. */
const templates: Readonly<Record<string, { label: string; files: Readonly<Record<string, string>> }>> = {
  markdown: {
    label: "Plain Markdown",
    files: {
      "README.md": page("Documentation", "- [Get started](guides/get-started.md)"),
      "guides/get-started.md": page("Get started", body),
    },
  },
  mintlify: {
    label: "Mintlify",
    files: {
      "docs.json": json({
        $schema: "https://mintlify.com/docs.json",
        theme: "mint",
        name: "Documentation",
        colors: { primary: "#2f6feb" },
        navigation: { groups: [{ group: "Documentation", pages: ["index", "guides/get-started"] }] },
      }),
      "index.mdx": titled("Introduction", "Begin with [Get started](/guides/get-started)."),
      "guides/get-started.mdx": titled("Get started", body),
    },
  },
  docusaurus: {
    label: "Docusaurus",
    files: {
      "docusaurus.config.js": `export default {
  title: "Documentation",
  url: "https://docs.example.com",
  baseUrl: "/",
  onBrokenLinks: "throw",
  presets: [["classic", { docs: { routeBasePath: "/", sidebarPath: "./sidebars.js" }, blog: false }]],
};
`,
      "sidebars.js": 'export default { docs: ["index", "get-started"] };\n',
      "docs/index.md": titled("Introduction", "Begin with [Get started](get-started.md)."),
      "docs/get-started.md": titled("Get started", body),
      "package.json": json({
        name: "docs",
        private: true,
        scripts: { build: "docusaurus build", start: "docusaurus start" },
        dependencies: {
          "@docusaurus/core": "^3.0.0",
          "@docusaurus/preset-classic": "^3.0.0",
          react: "^19.0.0",
          "react-dom": "^19.0.0",
        },
      }),
    },
  },
  vitepress: {
    label: "VitePress",
    files: {
      ".vitepress/config.mjs": `export default {
  title: "Documentation",
  themeConfig: { sidebar: [{ text: "Introduction", link: "/" }, { text: "Get started", link: "/get-started" }] },
};
`,
      "index.md": page("Introduction", "Begin with [Get started](./get-started.md)."),
      "get-started.md": page("Get started", body),
      "package.json": json({
        name: "docs",
        private: true,
        scripts: { build: "vitepress build", dev: "vitepress dev" },
        devDependencies: { vitepress: "^1.6.0" },
      }),
    },
  },
  starlight: {
    label: "Starlight",
    files: {
      "astro.config.mjs": `import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";

export default defineConfig({
  integrations: [starlight({ title: "Documentation", sidebar: [{ slug: "index" }, { slug: "get-started" }] })],
});
`,
      "src/content/docs/index.md": titled("Introduction", "Begin with [Get started](/get-started/)."),
      "src/content/docs/get-started.md": titled("Get started", body),
      "src/content.config.ts": `import { docsLoader } from "@astrojs/starlight/loaders";
import { docsSchema } from "@astrojs/starlight/schema";
import { defineCollection } from "astro:content";

export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`,
      "package.json": json({
        name: "docs",
        private: true,
        type: "module",
        scripts: { build: "astro build", dev: "astro dev" },
        dependencies: { "@astrojs/starlight": "^0.36.0", astro: "^5.0.0" },
      }),
    },
  },
  mkdocs: {
    label: "MkDocs",
    files: {
      "mkdocs.yml": `site_name: Documentation
nav:
  - Introduction: index.md
  - Get started: get-started.md
`,
      "docs/index.md": page("Introduction", "Begin with [Get started](get-started.md)."),
      "docs/get-started.md": page("Get started", body),
    },
  },
};

export const templateNames: readonly { name: string; label: string }[] = Object.entries(templates).map(
  ([name, { label }]) => ({ name, label }),
);

/** Null: there is no such template. */
export function templateFiles(name: string): readonly GivenFile[] | null {
  const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (!template) return null;
  return Object.entries(template.files).map(([path, text]) => ({ path, content: Buffer.from(text) }));
}
