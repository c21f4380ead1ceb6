import { dirOf, isBelow, joinPath, routeKey, stripExtension, underDir } from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { isDocument, unlisted } from "./pages.ts";
import { readYamlSource, yamlGet, yamlItems, yamlPairs, yamlText } from "./yaml-source.ts";

export const jekyll: Framework = {
  name: "jekyll",
  marker: /(?:^|\/)_config\.ya?ml$/,
  // Hexo and Jupyter Book use a file of the same name.
  confirm: (text) => !/^(?:new_post_name|skip_render|execute|launch_buttons|html|sphinx|parse):/m.test(text),
  load: loadJekyll,
};

async function loadJekyll(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = await context.readText(marker);
  if (text === null) return null;
  const config = readYamlSource(text).root;
  const root = joinPath(dirOf(marker), yamlText(yamlGet(config, "source")) ?? "") ?? dirOf(marker);
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const excluded = yamlItems(yamlGet(config, "exclude")).flatMap((item) => yamlText(item)?.replace(/\/$/, "") ?? []);
  const collections = new Map<string, string | null>([["posts", null]]);
  const declared = yamlGet(config, "collections");
  for (const item of yamlItems(declared)) collections.set(yamlText(item) ?? "", null);
  for (const { key, value } of yamlPairs(declared)) {
    collections.set(yamlText(key) ?? "", yamlText(yamlGet(value, "permalink")));
  }
  const collectionsDir = yamlText(yamlGet(config, "collections_dir")) ?? "";
  const gems = await context.readText(underDir(dirOf(marker), "Gemfile"));
  const readsMarkdown = gems === null || /github-pages|relative-links/.test(gems + text);
  const permalink = yamlText(yamlGet(config, "permalink"));
  // Every page is then a folder, and its relative links start there.
  const hasFolders = permalink === "pretty" || permalink?.endsWith("/") === true;
  const generated = await readHtmlPages(context, root);
  const hasPlugins = [...context.files.keys()].some(
    (path) => path.startsWith(underDir(root, "_plugins/")) && path.endsWith(".rb"),
  );
  const dialect: Dialect = { ...plainDialect, templates: true, kramdown: true };

  /** The collection of a file, and the file's path in it. */
  function collectionOf(path: string): { name: string; inside: string } | null {
    const place = inRoot(path).slice(collectionsDir === "" ? 0 : collectionsDir.length + 1);
    const [, name = "", inside = ""] = /^_([^/]+)\/(.+)$/.exec(place) ?? [];
    return collections.has(name) ? { name, inside } : null;
  }

  function routesOf(path: string, fields: Readonly<Record<string, unknown>>): string[] {
    const own = typeof fields.permalink === "string" ? fields.permalink : null;
    const collection = collectionOf(path);
    const stem = stripExtension(collection?.inside ?? inRoot(path));
    const name = stem.slice(dirOf(stem).length).replace(/^\//, "");
    const pattern = own ?? (collection === null ? null : (collections.get(collection.name) ?? `/:collection/:path`));
    const slug = typeof fields.slug === "string" ? fields.slug : name;
    const plain =
      pattern === null
        ? `/${stem.replace(/(^|\/)index$/, "$1")}${hasFolders && !/(?:^|\/)index$/.test(stem) ? "/" : ""}`
        : pattern
            .replace(":collection", collection?.name ?? "")
            .replace(":path", stem)
            .replace(/:(?:title|slug)/, slug)
            .replace(/:(?:name|basename)/, name)
            .replace(":output_ext", ".html");
    return [plain.startsWith("/") ? plain : `/${plain}`, ...redirectsFrom(fields)];
  }

  return {
    framework: "jekyll",
    root,
    configFiles: [marker],
    role(path) {
      if (!isDocument(path, root) || excluded.some((one) => inRoot(path) === one || inRoot(path).startsWith(`${one}/`)))
        return null;
      if (collectionOf(path) !== null) return "page";
      if (/(?:^|\/)_includes\//.test(path)) return "partial";
      return /(?:^|\/)_/.test(inRoot(path)) ? null : "page";
    },
    dialect: () => dialect,
    routes: routesOf,
    publicDirs: [root],
    basePath: (yamlText(yamlGet(config, "baseurl")) ?? "").replace(/\/$/, ""),
    ...unlisted,
    ownTarget,
    // Posts, archives and plugins have URLs that no file shows.
    isGenerated: (route) =>
      /(?:^|\/)(?:tags?|categor\w+|archives?|page\d+|feed\.xml|sitemap\.xml|\d{4})(?:\/|$)/.test(route) ||
      generated.has(route) ||
      isMade.test(route) ||
      (permalink !== null && /:(?!path|name|title)/.test(permalink)
        ? "`permalink` in the configuration gives posts other addresses"
        : false),
    makers: hasPlugins ? { what: "a plugin in `_plugins`" } : undefined,
    checksAbsolute: "if usual",
    links: {
      // GitHub Pages enables a plugin that resolves links to Markdown files. Elsewhere, the Gemfile lists the plugins.
      markdown: readsMarkdown ? "file" : "never",
      rootMarkdown: readsMarkdown,
      relative: "address",
      html: "pages",
      redirects: true,
      base: "either",
      slashes: permalink === null ? "pages" : "either",
    },
    aliases: { [linkAlias]: root },
    looseAnchors: true,
  };
}

/** A prefix for targets of `link`: they name files, even if plain targets do not. */
const linkAlias = "@link/";
/** The build generates style sheets and lists of posts from sources with other names. */
const isMade = /(?:^|\/)(?:blog|posts|news|css)(?:\/|$)|\.css$/;
const htmlPagesMax = 300;

/** Routes of pages written in HTML. */
async function readHtmlPages(context: FrameworkContext, root: string): Promise<Set<string>> {
  const routes = new Set<string>();
  const pages = [...context.files.keys()].filter(
    (path) => isBelow(path, root) && /\.html?$/.test(path) && !/(?:^|\/)_(?:includes|layouts|site)\//.test(path),
  );
  for (const path of pages.slice(0, htmlPagesMax)) {
    const inside = root === "" ? path : path.slice(root.length + 1);
    const own = /^---[\s\S]*?^permalink:\s*["']?([^"'\s]+)/m.exec((await context.readText(path)) ?? "")?.[1];
    routes.add(routeKey(own ?? `/${inside}`));
  }
  return routes;
}

function redirectsFrom(fields: Readonly<Record<string, unknown>>): string[] {
  const from = fields.redirect_from;
  return (Array.isArray(from) ? from : [from]).filter((one) => typeof one === "string");
}

/** `{% link file %}` names a file. `{{ site.baseurl }}` and `relative_url` precede a route. */
function ownTarget(target: string): { plain: string; name: string } | null {
  const based = /^\{\{-?\s*site\.(?:baseurl|url)\s*-?\}\}/.exec(target)?.[0];
  if (based !== undefined) {
    const rest = target.slice(based.length);
    const inner = rest.startsWith("/") || rest.startsWith("{") ? rest : `/${rest}`;
    return { plain: ownTarget(inner)?.plain ?? inner, name: inner };
  }
  const filtered =
    /^\{\{-?\s*["']([^"']+)["']\s*\|\s*(?:relative_url|absolute_url|prepend:\s*site\.\w+)\s*-?\}\}(.*)$/.exec(target);
  if (filtered !== null) {
    const [, name = "", tail = ""] = filtered;
    return { plain: (name.startsWith("/") ? name : `/${name}`) + tail, name };
  }
  const linked = /^\{%-?\s*link\s+(\S+)\s*-?%\}(#.*)?$/.exec(target);
  if (linked === null) return null;
  const [, name = "", tail = ""] = linked;
  // The file's extension is required, or the build fails.
  const isFile = /\.\w+$/.test(name);
  return { plain: `${linkAlias}${name}${isFile ? "" : ".missing"}${tail}`, name };
}
