// A small site for each builder: what a change is judged against, and what it is built into.
import { docusaurusConfig, hugoLayout, nextraApp, starlightCollections } from "../../../site/oracles/scaffolds.ts";

export interface BuilderSite {
  name: string;
  files: Readonly<Record<string, string>>;
  /** The path of a shape's page. */
  page: string;
  /** What a page of this builder must begin with, if the shape has no front matter of its own. */
  head?: string;
  command: readonly string[];
  /** The folder of the result. */
  output: string;
  /** The folder of its packages in the cache of `npm run oracles`; null: a program of this machine. */
  packages: string | null;
  version: readonly string[];
}

const page = "# Start\n\nSome words and a [link](https://known.example/).\n";
/** Renders each page to HTML. A page that cannot be rendered does not disturb the others. */
const renderProgram = (imports: string, options: string) => `
import { readdir, readFile, writeFile, mkdir } from "node:fs/promises";
import { evaluate } from "@mdx-js/mdx";
import * as runtime from "react/jsx-runtime";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
${imports}
await mkdir("out", { recursive: true });
for (const name of await readdir("docs")) {
  try {
    const value = (await readFile("docs/" + name, "utf8")).replace(/^---\\n[\\s\\S]*?\\n---\\n/, "");
    const { default: Page } = await evaluate({ value, path: "docs/" + name }, { ...${options}, ...runtime, baseUrl: import.meta.url });
    await writeFile("out/" + name.replace(/mdx$/, "html"), "<!doctype html><body>" + renderToStaticMarkup(createElement(Page)));
  } catch {}
}
process.exit(0);
`;
const fumadocsOptions = `await mdxPreset({
  remarkImageOptions: { publicDir: "public", useImport: false, onError: "ignore" },
  rehypeCodeOptions: false,
  remarkPlugins: (plugins) => [remarkInclude, ...plugins],
})`;

/** A plugin of webpack that names all pages it cannot compile. Its own message names few of them, or none. */
const tellFailed = `{
  apply: ({ hooks }) => hooks.done.tap("tell", ({ compilation: { errors, moduleGraph } }) => {
    for (let { module } of errors) for (; module; module = moduleGraph.getIssuer(module)) console.log("failed:", module.resource);
  }),
}`;

export const sites: readonly BuilderSite[] = [
  {
    name: "mkdocs",
    files: {
      "mkdocs.yml":
        "site_name: Docs\ntheme: readthedocs\nplugins: []\nmarkdown_extensions:\n  - admonition\n  - attr_list\n  - md_in_html\n  - footnotes\n  - def_list\n  - abbr\n  - tables\n  - pymdownx.superfences\n  - pymdownx.details\n  - pymdownx.tabbed\n",
      "docs/index.md": page,
    },
    page: "docs/§.md",
    command: ["mkdocs", "build", "--quiet"],
    output: "site",
    packages: null,
    version: ["mkdocs", "--version"],
  },
  {
    name: "sphinx",
    files: {
      "docs/conf.py":
        "project = 'Docs'\nextensions = ['myst_parser']\nmyst_enable_extensions = ['colon_fence', 'html_image', 'dollarmath']\n",
      "docs/index.rst": "Start\n=====\n\nSome words and a `link <https://known.example/>`_.\n",
    },
    page: "docs/§.md",
    command: ["/usr/bin/python3", "-m", "sphinx", "-q", "-b", "html", "docs", "_build"],
    output: "_build",
    packages: null,
    version: ["/usr/bin/python3", "-m", "sphinx", "--version"],
  },
  {
    name: "asciidoctor",
    files: {
      "docs/index.adoc": "= Start\n\nSome words and a https://known.example/[link].\n\n|===\na| A cell.\n|===\n",
    },
    page: "docs/§.adoc",
    command: ["sh", "-c", "asciidoctor -D out docs/*.adoc"],
    output: "out",
    packages: null,
    version: ["asciidoctor", "--version"],
  },
  {
    name: "jekyll",
    files: {
      "_config.yml": "title: Docs\nplugins: []\n",
      "_layouts/default.html":
        "<!doctype html><html><head><title>{{ page.title }}</title></head><body>{{ content }}</body></html>\n",
      "docs/index.md": `---\nlayout: default\ntitle: Start\n---\n\n${page}`,
    },
    page: "docs/§.md",
    head: "---\nlayout: default\ntitle: x\n---\n\n",
    command: ["jekyll", "build", "--quiet", "--disable-disk-cache"],
    output: "_site",
    packages: null,
    version: ["jekyll", "--version"],
  },
  {
    name: "hugo",
    files: {
      "hugo.toml":
        "title = 'Docs'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n[markup.goldmark.renderer]\nunsafe = true\n[markup.goldmark.parser.attribute]\nblock = true\n",
      "layouts/_default/single.html": hugoLayout,
      "layouts/_default/list.html": hugoLayout,
      "content/docs/index.md": page,
    },
    page: "content/§.md",
    command: ["hugo", "--config", "hugo.toml", "--ignoreCache"],
    output: "public",
    packages: null,
    version: ["hugo", "version"],
  },
  {
    name: "vitepress",
    files: {
      ".vitepress/config.mjs":
        "export default {\n  title: 'Docs',\n  ignoreDeadLinks: true,\n  themeConfig: {\n    nav: [{ text: 'Start', link: '/' }],\n  },\n};\n",
      "index.md": page,
    },
    page: "§.md",
    command: ["/node", "/work/node_modules/vitepress/bin/vitepress.js", "build"],
    output: ".vitepress/dist",
    packages: "vitepress",
    version: ["/node", "-p", "require('/work/node_modules/vitepress/package.json').version"],
  },
  {
    name: "mdx",
    files: { "docs/index.mdx": page, "render.mjs": renderProgram("", "{}") },
    page: "docs/§.mdx",
    command: ["/node", "render.mjs"],
    output: "out",
    packages: "fumadocs",
    version: ["/node", "-p", "require('/work/node_modules/@mdx-js/mdx/package.json').version"],
  },
  {
    name: "fumadocs",
    files: {
      "docs/index.mdx": page,
      "source.config.ts": "export {};\n",
      "render.mjs": renderProgram(
        'import { mdxPreset } from "fumadocs-core/content/mdx/preset-runtime";\nimport { remarkInclude } from "fumadocs-mdx/config";',
        fumadocsOptions,
      ),
    },
    page: "docs/§.mdx",
    command: ["/node", "render.mjs"],
    output: "out",
    packages: "fumadocs",
    version: ["/node", "-p", "require('/work/node_modules/fumadocs-mdx/package.json').version"],
  },
  {
    name: "docusaurus",
    files: {
      "docusaurus.config.mjs": docusaurusConfig.replace(
        "plugins: [",
        `plugins: [\n    () => ({ name: "tell", configureWebpack: () => ({ plugins: [${tellFailed}] }) }),`,
      ),
      "sidebars.mjs": "export default { docs: [{ type: 'autogenerated', dirName: '.' }] };\n",
      "docs/start.md": page,
    },
    page: "docs/§.mdx",
    command: ["/node", "/work/node_modules/@docusaurus/core/bin/docusaurus.mjs", "build", "--no-minify"],
    output: "build",
    packages: "docusaurus",
    version: ["/node", "-p", "require('/work/node_modules/@docusaurus/core/package.json').version"],
  },
  {
    name: "starlight",
    files: {
      "astro.config.mjs":
        "import { defineConfig } from 'astro/config';\nimport starlight from '@astrojs/starlight';\nexport default defineConfig({ integrations: [starlight({ title: 'Docs', pagefind: false })] });\n",
      "src/content.config.ts": starlightCollections,
      // Astro compiles only the packages that it finds named here.
      "package.json":
        '{ "private": true, "type": "module", "dependencies": { "@astrojs/starlight": "*", "astro": "*" } }\n',
      "src/content/docs/index.md": `---\ntitle: Start\n---\n\n${page}`,
    },
    page: "src/content/docs/§.md",
    head: "---\ntitle: x\n---\n\n",
    command: ["/node", "/work/node_modules/astro/bin/astro.mjs", "build"],
    output: "dist",
    packages: "starlight",
    version: ["/node", "-p", "require('/work/node_modules/@astrojs/starlight/package.json').version"],
  },
  {
    name: "nextra",
    files: {
      ...nextraApp,
      "next.config.mjs": `import nextra from 'nextra';\nconst webpack = (config) => ({ ...config, plugins: [...config.plugins, ${tellFailed}] });\nexport default nextra({})({ output: 'export', webpack });\n`,
      "package.json": '{ "private": true, "type": "module" }\n',
      "content/index.mdx": page,
    },
    page: "content/§.mdx",
    command: ["/node", "/work/node_modules/next/dist/bin/next", "build"],
    output: "out",
    packages: "nextra",
    version: ["/node", "-p", "require('/work/node_modules/nextra/package.json').version"],
  },
];
