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
  nextra: {
    label: "Nextra",
    files: {
      "next.config.mjs": `import nextra from "nextra";

export default nextra({})({ output: "export" });
`,
      "mdx-components.js": `import { useMDXComponents as themed } from "nextra-theme-docs";

export const useMDXComponents = (components) => ({ ...themed(), ...components });
`,
      "app/layout.jsx": `import { Layout } from "nextra-theme-docs";
import { getPageMap } from "nextra/page-map";
import "nextra-theme-docs/style.css";

export default async function RootLayout({ children }) {
  return (
    <html lang="en" suppressHydrationWarning>
      <body>
        <Layout pageMap={await getPageMap()}>{children}</Layout>
      </body>
    </html>
  );
}
`,
      "app/[[...mdxPath]]/page.jsx": `import { generateStaticParamsFor, importPage } from "nextra/pages";
import { useMDXComponents } from "../../mdx-components";

export const generateStaticParams = generateStaticParamsFor("mdxPath");

const { wrapper: Wrapper } = useMDXComponents();

export default async function Page(props) {
  const params = await props.params;
  const { default: Content, ...page } = await importPage(params.mdxPath);
  return (
    <Wrapper {...page}>
      <Content {...props} params={params} />
    </Wrapper>
  );
}
`,
      "content/_meta.js": 'export default { index: "Introduction", "get-started": "Get started" };\n',
      "content/index.mdx": page("Introduction", "Begin with [Get started](/get-started)."),
      "content/get-started.mdx": page("Get started", body),
      "package.json": json({
        name: "docs",
        private: true,
        scripts: { build: "next build", dev: "next dev" },
        dependencies: {
          next: "^15.0.0",
          nextra: "^4.0.0",
          "nextra-theme-docs": "^4.0.0",
          react: "^19.0.0",
          "react-dom": "^19.0.0",
        },
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
  sphinx: {
    label: "Sphinx",
    files: {
      "docs/conf.py": 'project = "Documentation"\nextensions = ["myst_parser"]\n',
      "docs/index.md": page("Introduction", "```{toctree}\nget-started\n```"),
      "docs/get-started.md": page("Get started", body),
      "docs/requirements.txt": "sphinx\nmyst-parser\n",
    },
  },
  mdbook: {
    label: "mdBook",
    files: {
      "book.toml": '[book]\ntitle = "Documentation"\n',
      "src/SUMMARY.md": page("Summary", "- [Introduction](index.md)\n- [Get started](get-started.md)"),
      "src/index.md": page("Introduction", "Begin with [Get started](get-started.md)."),
      "src/get-started.md": page("Get started", body),
    },
  },
  gitbook: {
    label: "GitBook",
    files: {
      ".gitbook.yaml": "root: ./\n",
      "SUMMARY.md": page("Table of contents", "* [Introduction](README.md)\n* [Get started](get-started.md)"),
      "README.md": page("Introduction", "Begin with [Get started](get-started.md)."),
      "get-started.md": page("Get started", body),
    },
  },
  jekyll: {
    label: "Jekyll",
    files: {
      "_config.yml": "title: Documentation\ntheme: minima\n",
      "index.md": titled("Introduction", "Begin with [Get started]({% link get-started.md %})."),
      "get-started.md": titled("Get started", body),
      Gemfile: 'source "https://rubygems.org"\n\ngem "jekyll", "~> 4.3"\ngem "minima", "~> 2.5"\n',
    },
  },
  hugo: {
    label: "Hugo",
    files: {
      "hugo.toml": 'title = "Documentation"\nbaseURL = "https://docs.example.com/"\n',
      "layouts/_default/baseof.html": `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>{{ .Title }}</title>
  </head>
  <body>
    <nav>{{ range site.RegularPages }}<a href="{{ .RelPermalink }}">{{ .Title }}</a> {{ end }}</nav>
    <main>{{ block "main" . }}{{ end }}</main>
  </body>
</html>
`,
      "layouts/_default/list.html": '{{ define "main" }}<h1>{{ .Title }}</h1>{{ .Content }}{{ end }}\n',
      "layouts/_default/single.html": '{{ define "main" }}<h1>{{ .Title }}</h1>{{ .Content }}{{ end }}\n',
      "content/_index.md": titled("Introduction", 'Begin with [Get started]({{< relref "get-started.md" >}}).'),
      "content/get-started.md": titled("Get started", body),
    },
  },
  docsify: {
    label: "Docsify",
    files: {
      "index.html": `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <link rel="stylesheet" href="https://cdn.jsdelivr.net/npm/docsify@4/themes/vue.css">
  </head>
  <body>
    <div id="app"></div>
    <script>window.$docsify = { name: "Documentation", loadSidebar: true };</script>
    <script src="https://cdn.jsdelivr.net/npm/docsify@4"></script>
  </body>
</html>
`,
      "_sidebar.md": "- [Introduction](/)\n- [Get started](get-started.md)\n",
      "README.md": page("Introduction", "Begin with [Get started](get-started.md)."),
      "get-started.md": page("Get started", body),
      ".nojekyll": "",
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
