// The files that every site of a framework needs besides its pages.

/** Dead links fail the build only in strict mode. */
export function vitepressConfig(more: string): string {
  return `export default {
  title: "Oracle",
${more}  ignoreDeadLinks: process.env.ORACLE_STRICT !== "1",
};
`;
}

export const docusaurusConfig = `export default {
  title: "Oracle",
  url: "https://example.org",
  baseUrl: "/",
  onBrokenLinks: "warn",
  onBrokenAnchors: "warn",
  markdown: { hooks: { onBrokenMarkdownLinks: "warn", onBrokenMarkdownImages: "warn" } },
  themes: ["@docusaurus/theme-classic"],
  plugins: [
    ["@docusaurus/plugin-content-docs", { path: "docs", routeBasePath: "docs", sidebarPath: "./sidebars.mjs" }],
    ["@docusaurus/plugin-content-pages", {}],
    ["@docusaurus/plugin-client-redirects", { redirects: [{ from: "/docs/old", to: "/docs/start" }] }],
  ],
};
`;

export const hugoLayout = "<!doctype html><html><body>{{ .Content }}</body></html>\n";

export const starlightCollections = `import { docsLoader } from "@astrojs/starlight/loaders";
import { docsSchema } from "@astrojs/starlight/schema";
import { defineCollection } from "astro:content";
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`;

export const nextraApp = {
  "mdx-components.js": `import { useMDXComponents as theme } from "nextra-theme-docs";
export const useMDXComponents = (components) => ({ ...theme(), ...components });
`,
  "app/layout.jsx": `import { Layout } from "nextra-theme-docs";
import { getPageMap } from "nextra/page-map";
export default async function Root({ children }) {
  return <html lang="en"><body><Layout pageMap={await getPageMap()}>{children}</Layout></body></html>;
}
`,
  "app/[[...mdxPath]]/page.jsx": `import { generateStaticParamsFor, importPage } from "nextra/pages";
import { useMDXComponents } from "../../mdx-components";
export const generateStaticParams = generateStaticParamsFor("mdxPath");
const { wrapper: Wrapper } = useMDXComponents();
export default async function Page(props) {
  const params = await props.params;
  const { default: Content, toc, metadata } = await importPage(params.mdxPath);
  return <Wrapper toc={toc} metadata={metadata}><Content {...props} params={params} /></Wrapper>;
}
`,
};

export const fumadocsApp = {
  "source.config.ts": `import { defineDocs } from "fumadocs-mdx/config";
export const docs = defineDocs({ dir: "content/docs" });
`,
  "lib/source.ts": 'export const source = loader({ baseUrl: "/docs", source: docs.toFumadocsSource() });\n',
};

export function docsifyPage(more: string): string {
  return `<!doctype html>
<html>
  <body>
    <div id="app"></div>
    <script>window.$docsify = { ${more}loadSidebar: true };</script>
    <script src="docsify.min.js"></script>
  </body>
</html>
`;
}
