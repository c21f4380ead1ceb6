import { nextraApp } from "../../site/oracles/scaffolds.ts";

/** A small site for each builder, and changes that the builder must complain about. */
export interface TrialSite {
  framework: string;
  /** npm packages, whose lock file is made first. */
  packages?: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  /** A harmless edit. */
  fine: Readonly<Record<string, string>>;
  /** An edit that the builder refuses or warns of, and the line that it should name. */
  broken: Readonly<Record<string, string>>;
  place: string;
  /** `error`: the builder must refuse it. */
  severity: "error" | "warning";
}

const page = (title: string, ...more: string[]) => `# ${title}\n\nWords.\n${more.join("\n")}\n`;

export const sites: readonly TrialSite[] = [
  {
    framework: "mkdocs",
    files: {
      "mkdocs.yml": "site_name: Docs\n",
      "docs/index.md": page("Home", "See [guide](guide.md)."),
      "docs/guide.md": page("Guide"),
    },
    fine: { "docs/guide.md": page("Guide", "More.") },
    broken: { "docs/guide.md": page("Guide", "", "See [gone](gone.md).") },
    place: "docs/guide.md:5",
    severity: "warning",
  },
  {
    framework: "mkdocs",
    files: {
      "mkdocs.yml": "site_name: Docs\nstrict: true\n",
      "docs/index.md": page("Home", "See [guide](guide.md)."),
      "docs/guide.md": page("Guide"),
    },
    fine: { "docs/guide.md": page("Guide", "More.") },
    broken: { "docs/guide.md": page("Guide", "", "See [gone](gone.md).") },
    place: "docs/guide.md:5",
    severity: "error",
  },
  {
    framework: "sphinx",
    files: {
      "docs/conf.py": "project = 'Docs'\n",
      "docs/index.rst": "Home\n====\n\n.. toctree::\n\n   guide\n",
      "docs/guide.rst": "Guide\n=====\n\nWords.\n",
    },
    fine: { "docs/guide.rst": "Guide\n=====\n\nMore words.\n" },
    broken: { "docs/guide.rst": "Guide\n=====\n\nWords and :ref:`gone`.\n" },
    place: "docs/guide.rst:4",
    severity: "warning",
  },
  {
    framework: "hugo",
    files: {
      "hugo.toml": 'baseURL = "https://docs.example.com/"\ntitle = "Docs"\n',
      "config.toml": 'baseURL = "https://docs.example.com/"\ntitle = "Docs"\n',
      "content/_index.md": "---\ntitle: Home\n---\n\nWords.\n",
      "content/guide.md": "---\ntitle: Guide\n---\n\nWords.\n",
      "layouts/_default/single.html": "{{ .Content }}",
      "layouts/_default/list.html": "{{ .Content }}",
      "layouts/index.html": "{{ .Content }}",
    },
    fine: { "content/guide.md": "---\ntitle: Guide\n---\n\nMore words.\n" },
    broken: { "content/guide.md": '---\ntitle: Guide\n---\n\nSee [gone]({{< ref "gone.md" >}}).\n' },
    place: "content/guide.md:5",
    severity: "error",
  },
  {
    framework: "jekyll",
    files: {
      "_config.yml": "title: Docs\n",
      "index.md": "---\ntitle: Home\n---\n\nWords.\n",
      "guide.md": "---\ntitle: Guide\n---\n\nWords.\n",
    },
    fine: { "guide.md": "---\ntitle: Guide\n---\n\nMore words.\n" },
    broken: { "guide.md": "---\ntitle: Guide\n---\n\nSee {% link gone.md %}.\n" },
    place: "guide.md:5",
    severity: "error",
  },
  {
    framework: "asciidoc",
    files: { "index.adoc": "= Home\n\nWords.\n", "guide.adoc": "= Guide\n\nWords.\n" },
    fine: { "guide.adoc": "= Guide\n\nMore words.\n" },
    broken: { "guide.adoc": "= Guide\n\nWords.\n\ninclude::gone.adoc[]\n" },
    place: "guide.adoc:5",
    severity: "error",
  },
  {
    framework: "mdbook",
    files: {
      "book.toml": '[book]\ntitle = "Docs"\n\n[build]\ncreate-missing = false\n',
      "src/SUMMARY.md": "# Summary\n\n- [Home](index.md)\n- [Guide](guide.md)\n",
      "src/index.md": page("Home"),
      "src/guide.md": page("Guide"),
    },
    fine: { "src/guide.md": page("Guide", "More.") },
    broken: { "src/SUMMARY.md": "# Summary\n\n- [Home](index.md)\n- [Guide](gone.md)\n" },
    place: "the site:1",
    severity: "error",
  },
  {
    framework: "vitepress",
    packages: { vitepress: "1.6.4" },
    files: {
      "docs/.vitepress/config.mts":
        'import { defineConfig } from "vitepress";\nexport default defineConfig({ title: "Docs" });\n',
      "docs/index.md": page("Home", "See [guide](./guide.md)."),
      "docs/guide.md": page("Guide"),
    },
    fine: { "docs/guide.md": page("Guide", "More.") },
    broken: { "docs/guide.md": page("Guide", "", "See [gone](./gone.md).") },
    place: "docs/guide.md:5",
    severity: "error",
  },
  {
    framework: "docusaurus",
    packages: {
      "@docusaurus/core": "3.10.2",
      "@docusaurus/preset-classic": "3.10.2",
      "@docsearch/react": "4.6.0",
      react: "19.3.1",
      "react-dom": "19.3.1",
    },
    files: {
      "docusaurus.config.js":
        'export default {\n  title: "Docs", url: "https://docs.example.com", baseUrl: "/", onBrokenLinks: "throw",\n  presets: [["classic", { docs: { routeBasePath: "/", sidebarPath: undefined }, blog: false }]],\n};\n',
      "docs/index.md": `---\nslug: /\n---\n\n${page("Home", "See [guide](./guide.md).")}`,
      "docs/guide.md": page("Guide"),
    },
    fine: { "docs/guide.md": page("Guide", "More.") },
    broken: { "docs/guide.md": page("Guide", "", "See [gone](/gone).") },
    place: "docs/guide.md:5",
    severity: "error",
  },
  {
    framework: "starlight",
    packages: { astro: "7.3.5", "@astrojs/starlight": "0.42.4" },
    files: {
      "astro.config.mjs":
        'import { defineConfig } from "astro/config";\nimport starlight from "@astrojs/starlight";\nexport default defineConfig({ integrations: [starlight({ title: "Docs" })] });\n',
      "src/content.config.ts":
        'import { defineCollection } from "astro:content";\nimport { docsLoader } from "@astrojs/starlight/loaders";\nimport { docsSchema } from "@astrojs/starlight/schema";\nexport const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };\n',
      "src/content/docs/index.md": "---\ntitle: Home\n---\n\nWords.\n",
      "src/content/docs/guide.md": "---\ntitle: Guide\n---\n\nWords.\n",
    },
    fine: { "src/content/docs/guide.md": "---\ntitle: Guide\n---\n\nMore words.\n" },
    broken: { "src/content/docs/guide.md": "---\ndescription: Guide\n---\n\nWords.\n" },
    place: "src/content/docs/guide.md:1",
    severity: "error",
  },
  {
    framework: "nextra",
    packages: {
      ...{ nextra: "4.6.1", "nextra-theme-docs": "4.6.1", next: "15.5.29", zod: "4.1.12" },
      ...{ react: "19.3.1", "react-dom": "19.3.1" },
    },
    files: {
      ...nextraApp,
      "next.config.mjs":
        'import nextra from "nextra";\nexport default nextra({ search: false })({ output: "export" });\n',
      "content/index.mdx": page("Home"),
      "content/guide.mdx": page("Guide"),
    },
    fine: { "content/guide.mdx": page("Guide", "More.") },
    broken: { "content/guide.mdx": page("Guide", "", "An <open> tag.") },
    place: "content/guide.mdx:1",
    severity: "error",
  },
];
