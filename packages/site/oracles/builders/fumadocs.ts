import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { askedKey, type Builder, homeOf } from "./builder.ts";

/** Fumadocs' loader over the files of a site, configured as in an application. */
async function fumadocsSource(folder: string) {
  const use = async (file: string) => {
    const module = await import(join(homeOf(folder), "node_modules", file));
    return module.default ?? module;
  };
  const content = join(folder, "content/docs");
  const paths = (await readdir(content, { recursive: true })).filter((path) => /\.mdx?$/.test(path));
  const pages = paths.map((path) => ({
    type: "page",
    path,
    absolutePath: join(content, path),
    data: { title: path },
  }));
  const { loader } = await use("fumadocs-core/dist/source/index.js");
  // The same source text that Emend reads.
  const i18n = await readFile(join(folder, "lib/i18n.ts"), "utf8").catch(() => null);
  const languages =
    i18n === null ? {} : { i18n: JSON.parse(i18n.replace(/^.*?\(|\);\n$/gs, "").replace(/(\w+):/g, '"$1":')) };
  return { use, source: loader({ baseUrl: "/docs", source: { files: pages }, ...languages }) };
}

/** The output file of a page. The application looks up the page by the segments of its URL. */
const fumadocsFile = (url: string): string => `${decodeURI(url).slice(1)}.html`;

export const fumadocs: Builder = {
  framework: "fumadocs",
  packages: {
    "fumadocs-core": "16.15.13",
    "fumadocs-mdx": "15.4.3",
    "@mdx-js/mdx": "3.1.1",
    react: "19.3.1",
    "react-dom": "19.3.1",
  },
  async make(folder) {
    const { use, source } = await fumadocsSource(folder);
    const [{ evaluate }, { mdxPreset }, { remarkInclude }, runtime, { createElement }, { renderToStaticMarkup }] =
      await Promise.all(
        [
          "@mdx-js/mdx/index.js",
          "fumadocs-core/dist/content/mdx/preset-runtime.js",
          "fumadocs-mdx/dist/config/index.js",
          "react/jsx-runtime.js",
          "react/index.js",
          "react-dom/server.node.js",
        ].map(use),
      );
    const remarkImageOptions = { publicDir: join(folder, "public"), useImport: false, onError: "ignore" };
    const preset = await mdxPreset({
      remarkImageOptions,
      rehypeCodeOptions: false,
      remarkPlugins: (plugins: unknown[]) => [remarkInclude, ...plugins],
    });
    for (const page of source.getPages()) {
      const text = (await readFile(page.absolutePath, "utf8")).replace(/^---\n[\s\S]*?\n---\n/, "");
      const { default: Content } = await evaluate({ value: text, path: page.absolutePath }, { ...preset, ...runtime });
      // The same as `createRelativeLink` in the page of the Fumadocs template.
      const a = (props: { href: string }) =>
        createElement("a", { ...props, href: source.resolveHref(props.href, page) });
      const file = join(folder, "out", fumadocsFile(page.url));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, renderToStaticMarkup(createElement(Content, { components: { a } })));
    }
    return { isGood: true, log: "" };
  },
  output: "out",
  pageUrl: (file) => `/${file.replace(/\.html$/, "")}`,
  async answers(folder, paths) {
    const { source } = await fumadocsSource(folder);
    const found = new Map<string, string>();
    for (const path of paths) {
      const slugs = /^\/docs(?:\/(.*?))?\/?$/.exec(path);
      const page = slugs === null ? undefined : source.getPage(slugs[1]?.split("/") ?? []);
      if (page !== undefined) found.set(path, await readFile(join(folder, "out", fumadocsFile(page.url)), "utf8"));
    }
    return found;
  },
  versions: async () => fumadocs.packages,
  async read(_ran, site, folder) {
    const { source } = await fumadocsSource(folder);
    return {
      async askServer(asked) {
        const served = new Map<string, string>();
        for (const one of asked) {
          // Next removes the trailing slash.
          const [, language, slugs] = /^(?:\/([a-z]{2}))?\/docs(?:\/(.*?))?\/?$/.exec(one.path) ?? ["", "", null];
          const page = slugs === null ? undefined : source.getPage(slugs?.split("/") ?? [], language);
          const name = decodeURIComponent(one.path.slice(1));
          if (page !== undefined) served.set(askedKey(one), fumadocsFile(page.url));
          else if (site.files[`public/${name}`] !== undefined) served.set(askedKey(one), name);
        }
        return served;
      },
    };
  },
};
