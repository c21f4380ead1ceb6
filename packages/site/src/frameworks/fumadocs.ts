import type { LinkRules } from "../links/link-rules.ts";
import {
  baseOf,
  dirOf,
  isBelow,
  joinPath,
  pageExtension,
  relativePath,
  stripExtension,
  underDir,
} from "../links/target.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model, NavItem, NavList } from "./framework.ts";
import { literalNav } from "./literal-nav.ts";
import { isDocument, unlisted } from "./pages.ts";

export const fumadocs: Framework = {
  name: "fumadocs",
  marker: /(?:^|\/)source\.config\.(?:m?[jt]s|tsx)$/,
  confirm: (text) => /fumadocs-mdx/.test(text),
  load: loadFumadocs,
};

/** The loader resolves `./page.mdx` and `../page.mdx`. Next resolves the rest, and removes the trailing slash. */
const links: LinkRules = {
  markdown: "dotted",
  rootMarkdown: false,
  relative: "address",
  tags: "href address",
  html: "never",
  redirects: true,
  base: "either",
  slashes: "either",
};

async function loadFumadocs(context: FrameworkContext, marker: string): Promise<Model | null> {
  const top = dirOf(marker);
  const text = (await context.readText(marker)) ?? "";
  const named = [...text.matchAll(collection)].map(
    ([, name = "", body = ""]) => [name, /\bdir:\s*["'`]([^"'`]+)["'`]/.exec(body)?.[1] ?? "content/docs"] as const,
  );
  const dirs = [...text.matchAll(/\bdir:\s*["'`]([^"'`]+)["'`]/g)].map(([, dir = ""]) => dir);
  const places = dirs.length > 0 || named.length > 0 ? [...named.map(([, dir]) => dir), ...dirs] : ["content/docs"];
  const folders = [...new Set(places.map((dir) => joinPath(top, dir) ?? dir))].filter((dir) =>
    [...context.files.keys()].some((path) => isDocument(path, dir)),
  );
  const [first] = folders;
  if (first === undefined) return null;
  const root = folders.length === 1 ? first : dirOf(first);
  const { baseUrls, basesOf, hasComputedBase, languages, standard, hidden, isByFolder } = await readLoader(
    context,
    top,
  );
  const loaded = new Map(named.map(([name, dir]) => [joinPath(top, dir) ?? dir, basesOf(name)]));
  const md: Dialect = { ...plainDialect, headingIds: ["brackets"], includes: "fumadocs" };
  const mdx: Dialect = { ...md, syntax: "mdx" };
  const folderOf = (path: string): string => folders.find((dir) => isBelow(path, dir)) ?? root;
  const languageIn = isByFolder ? /^([\w-]+)\// : /\.([\w-]+)$/;

  /** The bases of the loaders that read a folder. With one folder, every loader does. */
  function basesFor(folder: string): readonly string[] {
    const own = loaded.get(folder) ?? [];
    if (own.length > 0) return own;
    return folders.length === 1 && baseUrls.length > 0 ? baseUrls : [`/${baseOf(folder)}`];
  }
  const isEveryLoaded =
    !hasComputedBase && folders.every((folder) => folders.length === 1 || (loaded.get(folder) ?? []).length > 0);

  /** Folders in parentheses are not part of the URL. Each collection may have its own base. */
  function routesOf(path: string): string[] {
    const folder = folderOf(path);
    const name = stripExtension(path.slice(folder.length + 1));
    const named = languageIn.exec(name)?.[1] ?? "";
    const language = languages.includes(named) ? named : standard;
    const inside = (language === named ? name.replace(languageIn, "") : name)
      .split("/")
      .filter((part) => !/^\(.+\)$/.test(part))
      .join("/")
      .replace(/(?:^|\/)index$/, "");
    const plain = basesFor(folder).map((base) => `${base === "/" ? "" : base}/${inside}`.replace(/(.)\/$/, "$1"));
    if (language === "" || hidden === "always") return plain;
    const own = plain.map((route) => `/${language}${route}`.replace(/\/$/, ""));
    if (language !== standard) return own;
    // Without a language in the URL, the application redirects readers to theirs.
    return hidden === "default-locale" ? [...plain, ...own] : [...own, ...plain];
  }

  const withoutLanguage = (route: string): string => {
    const [first = "", ...rest] = route.split("/");
    return languages.includes(first) ? rest.join("/") : route;
  };

  const navigation = await readMetas(context, folders, languages);

  return {
    framework: "fumadocs",
    root,
    configFiles: [marker, ...navigation.map(({ file }) => file)],
    role: (path) => (folders.some((dir) => isDocument(path, dir)) ? "page" : null),
    dialect: (path) => (path.endsWith(".mdx") ? mdx : md),
    routes: routesOf,
    publicDirs: [underDir(top, "public")],
    basePath: "",
    ...unlisted,
    navigation,
    navRoute: (target) => (target.startsWith("/") ? { route: target } : { path: target }),
    navTarget: (path, _route, _fields, list) =>
      withoutSuffix(stripExtension(relativePath(dirOf(list.file), path)), languages),
    // The application may have other pages. Below a base there are only documents, and pages generated from an API
    // description. Images must be in `public`: the build fails if one is missing (remark-image at ff32724).
    isGenerated(route) {
      if (/\.(?:png|jpe?g|gif|webp|avif)$/i.test(route)) return false;
      const isBased = folders.some((folder) =>
        basesFor(folder).some((base) => `/${withoutLanguage(route)}/`.startsWith(base === "/" ? "/" : `${base}/`)),
      );
      if (!isBased) return true;
      return isEveryLoaded ? false : "the addresses of some collections are set by code that is not read";
    },
    // An untranslated page is shown in the default language.
    fallbackRoute: (key) => (languages.includes(key.split("/")[0] ?? "") ? withoutLanguage(key) : null),
    links,
    checksAbsolute: "if usual",
    looseAnchors: "unless own",
  };
}

function dirsAbove(path: string): string[] {
  const dir = dirOf(path);
  return dir === "" ? [] : [dir, ...dirsAbove(dir)];
}

/** `keys.fr` is the French `keys`. */
function withoutSuffix(stem: string, languages: readonly string[]): string {
  const suffix = /\.([\w-]+)$/.exec(stem)?.[1] ?? "";
  return languages.includes(suffix) ? stem.slice(0, -suffix.length - 1) : stem;
}

const metaFile = /(?:^|\/)meta(?:\.([\w-]+))?\.json$/;
/** `[Text](/docs/page)`, with an optional icon before it. */
const metaLink = /^((?:\[[^\]]+\])?\[[^\]]+\]\()(\/[^)?#]*)[^)]*\)$/;

/**
 * The lists of `meta.json`: each names pages and folders by paths relative to its own folder. Fumadocs ignores other
 * entries without a warning: separators, "...", "!page", and names that only other sources of the application have.
 */
async function readMetas(
  context: FrameworkContext,
  folders: readonly string[],
  languages: readonly string[],
): Promise<NavList[]> {
  const lists: NavList[] = [];
  const dirs = new Set([...context.files.keys()].filter((path) => pageExtension.test(path)).flatMap(dirsAbove));
  for (const file of context.files.keys()) {
    const found = metaFile.exec(file);
    if (found === null || !folders.some((dir) => isBelow(file, dir))) continue;
    const text = (await context.readText(file)) ?? "";
    const dir = dirOf(file);
    const suffixes = [...(found[1] === undefined ? [] : [`.${found[1]}`]), "", ...languages.map((name) => `.${name}`)];
    const pageAt = (stem: string): string | undefined =>
      suffixes
        .flatMap((suffix) => [".mdx", ".md"].map((ending) => stem + suffix + ending))
        .find((path) => context.files.has(path));
    const nav = literalNav(
      {
        file,
        text,
        targetKeys: [],
        labelKeys: [],
        listKeys: ["pages"],
        hasBareTexts: true,
        isForeign: () => false,
        name: (target) => target,
        write: (target) => target,
      },
      parseLiteral(text),
    );
    for (const list of nav.lists) {
      const items = list.items.map((item): NavItem => {
        const name = text.slice(item.start + 1, item.end - 1);
        const [, lead = "", route] = metaLink.exec(name) ?? [];
        const place = (skipped: number, length: number): Pick<NavItem, "targetStart" | "targetEnd"> => ({
          targetStart: item.start + 1 + skipped,
          targetEnd: item.start + 1 + skipped + length,
        });
        // Other pages of the application may be linked too.
        if (route !== undefined)
          return { ...item, ...place(lead.length, route.length), target: route, isForeign: true };
        const mark = /^(?:\.{3}|!)(?=.)/.exec(name)?.[0] ?? "";
        const stem = joinPath(dir, name.slice(mark.length)) ?? "";
        const placed = { ...item, ...place(mark.length, name.length - mark.length) };
        // A folder takes precedence over a page of the same name.
        if (stem !== dir && dirs.has(stem)) return { ...placed, target: null, folder: { path: stem, below: dir } };
        return { ...placed, target: pageAt(stem) ?? null };
      });
      lists.push({ ...list, items, written: (target, item, route) => (item.isForeign ? route : target) });
    }
  }
  return lists;
}

const collection = /\bexport\s+const\s+(\w+)\s*=\s*define(?:Docs|Collections)\s*\(([\s\S]*?)(?=\bexport\b|$)/g;

/** The `baseUrl` of each loader and the languages, from anywhere in the application's source. */
async function readLoader(context: FrameworkContext, top: string) {
  const texts: string[] = [];
  for (const path of context.files.keys()) {
    const isNamed = /(?:^|\/)(?:[\w-]*source|i18n)(?:\/[\w-]+)?\.(?:m?[jt]s|tsx)$/.test(path);
    if (isNamed && isBelow(path, top) && !path.includes("node_modules/")) {
      texts.push((await context.readText(path)) ?? "");
    }
  }
  const all = texts.join("\n");
  const setting = (name: string): string => new RegExp(`\\b${name}:\\s*["'\`]([^"'\`]+)["'\`]`).exec(all)?.[1] ?? "";
  const listed = /\blanguages:\s*\[([^\]]*)\]/.exec(all)?.[1] ?? "";
  const languages = [...listed.matchAll(/["'`]([\w-]+)["'`]/g)].map(([, name = ""]) => name);
  return {
    baseUrls: [...new Set([...all.matchAll(/\bbaseUrl:\s*["'`]([^"'`]+)["'`]/g)].map(([, base = ""]) => base))],
    hasComputedBase: /\bbaseUrl\s*(?::\s*(?!["'`\s])|[,}])/.test(all),
    /** The bases of the loaders whose call names a collection. */
    basesOf: (name: string): string[] =>
      all
        .split(/\bloader\s*\(/)
        .slice(1)
        .map((call) => call.split(/\bexport\s/)[0] as string)
        .filter((call) => new RegExp(`\\b${name}\\b`).test(call))
        .flatMap((call) => /\bbaseUrl:\s*["'`]([^"'`]+)["'`]/.exec(call)?.[1] ?? []),
    languages,
    standard: languages.length === 0 ? "" : setting("defaultLanguage"),
    hidden: setting("hideLocale"),
    isByFolder: setting("parser") === "dir",
  };
}
