import type { LinkRules } from "../links/link-rules.ts";
import { baseOf, dirOf, isBelow, joinPath, pageExtension, stripExtension, underDir } from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { isDocument, unlisted } from "./pages.ts";

export const hugo: Framework = {
  name: "hugo",
  marker: /(?:^|\/)(?:config\/_default\/)?(?:hugo|config)\.(?:toml|ya?ml|json)$/,
  confirm: (text, path) =>
    baseOf(path).startsWith("hugo.") || /^\s*["']?(?:baseURL|languageCode|theme)["']?\s*[:=]/im.test(text),
  load: loadHugo,
};

function settings(texts: readonly string[], name: string): string[] {
  const setting = new RegExp(`["']?\\b${name}["']?\\s*[:=]\\s*["']?([^"'\\s,}\\]]+)`, "gi");
  return texts.flatMap((text) => [...text.matchAll(setting)].map(([, value = ""]) => value.replace(/\/$/, "")));
}

/** A path as Hugo writes it in URLs. */
function urlize(path: string): string {
  return path
    .toLowerCase()
    .replace(/\s+/g, "-")
    .replace(/[^\p{L}\p{M}\p{N}/._+~-]/gu, "");
}

function sectionOf(inside: string): string {
  return inside.includes("/") ? (inside.split("/")[0] ?? "") : "";
}

const permalinkPart =
  /:(?:year|month|day|slug|title|filename|contentbasename|slugor(?:filename|contentbasename)|sections?)\b/g;

/** The patterns of `permalinks` by section. "unread" if one has a part that only Hugo can fill in. */
function readPermalinks(texts: readonly string[]): ReadonlyMap<string, string> | "unread" {
  const patterns = new Map<string, string>();
  let isNamed = false;
  for (const text of texts) {
    isNamed ||= /^\s*\[?permalinks\b/im.test(text);
    const block =
      /^(?:permalinks:|\[permalinks\])[ \t]*\r?\n((?:[ \t]*["']?[\w/-]+["']?[ \t]*[:=][ \t]*["']?\/[^\n]*\n?)+)/m.exec(
        text,
      );
    for (const [, section = "", pattern = ""] of (block?.[1] ?? "").matchAll(
      /^[ \t]*["']?([\w/-]+)["']?[ \t]*[:=][ \t]*["']?(\/[^"'\s]*)/gm,
    ))
      patterns.set(section, pattern);
  }
  const isRead =
    patterns.size > 0 && [...patterns.values()].every((one) => !one.replace(permalinkPart, "").includes(":"));
  return isNamed && !isRead ? "unread" : patterns;
}

/** The address by a pattern. Null if a field that it needs is missing. */
function fillPermalink(pattern: string, inside: string, fields: Readonly<Record<string, unknown>>): string | null {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(String(fields.date ?? "")) ?? [];
  const own = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
  const parts: Record<string, string | undefined> = {
    year,
    month,
    day,
    slug: own(fields.slug) ?? own(fields.title),
    title: own(fields.title),
    filename: baseOf(inside),
    contentbasename: baseOf(inside),
    slugorfilename: own(fields.slug) ?? baseOf(inside),
    slugorcontentbasename: own(fields.slug) ?? baseOf(inside),
    section: sectionOf(inside),
    sections: dirOf(inside),
  };
  const names = [...pattern.matchAll(permalinkPart)].map(([name]) => name.slice(1));
  if (names.some((name) => parts[name] === undefined)) return null;
  return pattern.replace(permalinkPart, (name) =>
    urlize((parts[name.slice(1)] ?? "").replaceAll("/", name === ":sections" ? "/" : "-")),
  );
}

/** A prefix for targets of `ref`: they name files, even if plain targets do not. */
const refAlias = "@ref/";

/** Without a render hook, targets are written unchanged: they are URLs. */
const plainLinks: LinkRules = {
  markdown: "never",
  rootMarkdown: false,
  relative: "address",
  html: "indexes",
  redirects: true,
  base: "written",
  slashes: "either",
};

async function loadHugo(context: FrameworkContext, marker: string): Promise<Model | null> {
  let known: ReadonlySet<string> | undefined;
  const top = dirOf(marker).replace(/(?:^|\/)config\/_default$/, "");
  const folder = underDir(top, "config/");
  const configFiles = [...context.files.keys()].filter(
    (path) => path === marker || (path.startsWith(folder) && /\.(?:toml|ya?ml|json)$/.test(path)),
  );
  const texts = await Promise.all(configFiles.map(async (path) => (await context.readText(path)) ?? ""));
  const contentDirs = [...new Set([...settings(texts, "contentDir"), "content"])]
    .map((dir) => joinPath(top, dir) ?? dir)
    .filter((dir) => [...context.files.keys()].some((path) => isDocument(path, dir)));
  const [first] = contentDirs.toSorted((a, b) => a.length - b.length);
  if (first === undefined) return null;
  const root = contentDirs.every((dir) => dir === first || isBelow(dir, first)) ? first : top;
  // Each language folder contains a site. A file name that ends with a language is a translation.
  const languages = new Set(
    texts
      .flatMap((text) => [...text.matchAll(/^\s*\[?(?:languages\.)?([a-z]{2}(?:-[a-z]{2,4})?)\]?:?\s*$/gim)])
      .map(([, name = ""]) => name.toLowerCase()),
  );
  for (const dir of settings(texts, "source"))
    if (/(?:^|\/)content\/[a-z]{2}(?:-\w+)?$/i.test(dir)) languages.add(baseOf(dir).toLowerCase());
  for (const dir of contentDirs) if (dir !== root) languages.add(baseOf(dir).toLowerCase());
  const defaultLanguage = settings(texts, "defaultContentLanguage")[0]?.toLowerCase() ?? "en";
  languages.add(defaultLanguage);
  const hasDefaultFolder = settings(texts, "defaultContentLanguageInSubdir")[0]?.toLowerCase() === "true";
  // Languages may have separate hosts instead of folders.
  const hasHosts = settings(texts, "baseURL").length > 1;
  const hasLinkHook = [...context.files.keys()].some(
    (path) => isBelow(path, top) && /\/_markup\/render-link[^/]*\.html$/.test(path),
  );
  // A theme may have a link render hook, and multilingual sites have a built-in one.
  const mayHaveHook =
    hasLinkHook ||
    languages.size > 1 ||
    texts.some((text) => /^\s*\[?\[?(?:theme|module|imports)\b|render-?hooks/im.test(text)) ||
    [...context.files.keys()].some(
      (path) => path.startsWith(underDir(top, "themes/")) || path === underDir(top, "go.mod"),
    );
  const mounted = new Set(
    settings(texts, "target")
      .filter((path) => pageExtension.test(path))
      .map(baseOf),
  );
  const mounts = settings(texts, "target").flatMap((dir) =>
    pageExtension.test(dir) ? [] : (/^content\/(.+)$/.exec(dir)?.[1]?.toLowerCase() ?? []),
  );
  const hasModules = texts.some((text) => /^\s*(?:\[\[(?:module\.)?imports\]\]|imports:)/m.test(text));
  const permalinks = readPermalinks(texts);
  const layoutDir = underDir(top, "layouts/");
  const layouts = new Set(
    [...context.files.keys()].flatMap((path) =>
      path.startsWith(layoutDir)
        ? (/^(\w[\w-]*)\/[\w.-]+\.html$|^_default\/([\w-]+)\.html$/.exec(path.slice(layoutDir.length))?.slice(1) ?? [])
        : [],
    ),
  );
  const base = /^[a-z]+:\/\/[^/]+(\/.+)$/i.exec(settings(texts, "baseURL")[0] ?? "")?.[1] ?? "";
  const dialect: Dialect = { ...plainDialect, templates: true };
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));

  /** The language suffix of a file's name, and the path without it. */
  function nameOf(path: string): { whole: string; suffix: string | null } {
    const [, name = "", suffix = ""] =
      /^(.*?)(?:\.([a-z]{2}(?:-[a-z]{2,4})?))?$/i.exec(stripExtension(inRoot(path))) ?? [];
    if (languages.has(suffix.toLowerCase())) return { whole: name, suffix: suffix.toLowerCase() };
    return { whole: suffix === "" ? name : `${name}.${suffix}`, suffix: null };
  }

  function routesOf(path: string, fields: Readonly<Record<string, unknown>>): string[] {
    const { whole, suffix } = nameOf(path);
    const [, lead = ""] = /^([^/]+)\//.exec(whole) ?? [];
    const isOwnFolder = languages.has(lead.toLowerCase());
    const language = isOwnFolder ? lead.toLowerCase() : (suffix ?? defaultLanguage);
    const inside = (isOwnFolder ? whole.slice(lead.length + 1) : whole).replace(/(?:^|\/)_?index$/, "");
    const url = typeof fields.url === "string" ? fields.url : null;
    const slug = typeof fields.slug === "string" ? fields.slug : null;
    const pattern =
      permalinks === "unread" || /(?:^|\/)_index$/.test(whole) ? undefined : permalinks.get(sectionOf(inside));
    const permalink = pattern === undefined ? null : fillPermalink(pattern, inside, fields);
    const plain =
      url ?? permalink ?? `/${urlize(slug === null ? inside : underDir(dirOf(inside), slug))}/`.replace("//", "/");
    const rooted = plain.startsWith("/") ? plain : `/${plain}`;
    const prefixed = `/${language}${rooted}`;
    const aliases = Array.isArray(fields.aliases) ? fields.aliases.filter((alias) => typeof alias === "string") : [];
    // Drafts are not built.
    if (fields.draft === true) return [];
    const isPrefixed = language !== defaultLanguage || hasDefaultFolder;
    return [
      ...(hasHosts ? [rooted, prefixed] : [isPrefixed ? prefixed : rooted]),
      // A render hook also finds a page by its file path, whatever its URL is.
      ...(mayHaveHook && (url ?? permalink ?? slug) !== null
        ? [`${isPrefixed ? `/${language}` : ""}/${inside.toLowerCase()}/`]
        : []),
      ...aliases.map((alias) =>
        alias.startsWith("/") ? alias : `/${joinPath(dirOf(rooted.replace(/\/$/, "")), alias) ?? alias}`,
      ),
    ];
  }

  return {
    framework: "hugo",
    root,
    configFiles,
    // Folders that start with an underscore contain included content.
    role: (path) =>
      contentDirs.some((dir) => isDocument(path, dir))
        ? /(?:^|\/)_[^/]*\//.test(inRoot(path)) || isResource(path)
          ? "partial"
          : "page"
        : null,
    dialect: () => dialect,
    routes: routesOf,
    // Files beside the pages are served where their pages are.
    publicDirs: [...new Set([underDir(top, "static"), root, ...contentDirs, underDir(root, defaultLanguage)])],
    basePath: base,
    ...unlisted,
    ownTarget(target, from) {
      // A mount adds a file from elsewhere to the pages.
      if (mounted.has(baseOf(target.replace(/[?#].*$/, "")))) return { plain: `{${target}}`, name: target };
      const found =
        /^\{\{[<%]\s*(?:rel)?ref\s+(?:path=)?(?:"([^"]+)"|'([^']+)'|`([^`]+)`|(\S+))(?:\s+lang="([a-z-]+)")?\s*[>%]\}\}(#[\w-]*)?$/i.exec(
          target,
        );
      if (found === null) return null;
      const name = found[1] ?? found[2] ?? found[3] ?? found[4] ?? "";
      const tail = found[6] ?? "";
      return {
        plain: refTarget(name, from, found[5]?.toLowerCase() ?? nameOf(from).suffix ?? defaultLanguage) + tail,
        name: name.replace(/#.*$/, "") || name,
      };
    },
    // The build generates sections, terms and pages of modules. A render hook may resolve them in any way.
    isGenerated(route) {
      // The home page may be written in HTML.
      if (route === "") return true;
      if (/(?:^|\/)(?:(?:tags|categories)(?:\/|$)|page\/\d+$)/.test(route) || isSection(route)) return true;
      if (mounts.some((dir) => isBelow(route, dir))) return "a mount of the configuration may bring it";
      if (hasLinkHook) return "the site's render hook may resolve links in its own way";
      return permalinks === "unread" ? "`permalinks` in the configuration give pages other addresses" : false;
    },
    makers: hasModules ? { what: "a module of the configuration" } : undefined,
    drawnBy: ({ type, layout }) =>
      [type, layout].some((name) => typeof name === "string" && layouts.has(name)) ? "a layout of the site" : null,
    checksAbsolute: "if usual",
    aliases: { [refAlias]: root },
    ...(mayHaveHook ? {} : { links: plainLinks }),
    // Terms of definition lists may have ids too.
    looseAnchors: texts.some((text) => /autoDefinitionTermID\s*[:=]\s*true/i.test(text)) ? "unknown" : true,
  };

  function isSection(route: string): boolean {
    const [, lead = "", rest = ""] = /^([^/]+)\/?(.*)$/.exec(route) ?? [];
    const plain = languages.has(lead) ? rest : route;
    return contentDirs.some((dir) => sections().has(underDir(dir, route)) || sections().has(underDir(dir, plain)));
  }

  /** Files below a leaf bundle (`index.md`) are its resources, not pages. */
  function isResource(path: string): boolean {
    if (/(?:^|\/)index(?:\.[a-z-]+)?\.\w+$/i.test(path)) return false;
    for (let dir = dirOf(path); isBelow(dir, root) && dir !== root; dir = dirOf(dir))
      if (context.files.has(`${dir}/index.md`)) return true;
    return false;
  }

  /** Folders of pages have a URL even without a page of their own. */
  function sections(): ReadonlySet<string> {
    known ??= new Set(
      [...context.files.keys()].filter((path) => isBelow(path, root)).map((path) => dirOf(path).toLowerCase()),
    );
    return known;
  }

  /** `ref` looks next to the page, then from the root, then for a unique page of that name. */
  function refTarget(name: string, from: string, language: string): string {
    // Each language has its own pages, by file name suffix.
    const ends = language === defaultLanguage ? [".md", `.${language}.md`] : [`.${language}.md`];
    const [path = "", hash] = name.split("#");
    // Languages in separate folders.
    if (language !== defaultLanguage && contentDirs.length > 1) return `{{${name}`;
    const tail = hash === undefined ? "" : `#${hash}`;
    if (path === "") return tail;
    const stem = stripExtension(path.replace(/^\//, "")).replace(/\/$/, "");
    const beside = path.startsWith("/") ? [] : [joinPath(dirOf(from), stem)];
    for (const place of [...beside, ...contentDirs.map((dir) => joinPath(dir, stem))]) {
      const file = ["", "/_index", "/index"]
        .flatMap((name) => ends.map((end) => `${place}${name}${end}`))
        .find((one) => context.files.has(one));
      if (file !== undefined) return `${refAlias}${inRoot(file)}${tail}`;
    }
    const named = [...context.files.keys()].filter(
      (file) =>
        // Up to version 0.122, Hugo also looked up `/name` by the name alone.
        !/^\/.*\//.test(path) &&
        isDocument(file, root) &&
        (nameOf(file).suffix ?? defaultLanguage) === language &&
        stripExtension(file)
          .replace(/\/_?index$/, "")
          .endsWith(`/${stem}`),
    );
    // A file that a move has yet to write.
    const written = path.startsWith(".") ? joinPath(dirOf(from), stem) : null;
    if (written !== null && named.length === 0) return `${refAlias}${inRoot(written)}${ends[0]}${tail}`;
    return named.length === 1 ? `${refAlias}${inRoot(named[0] ?? "")}${tail}` : `${refAlias}${stem}${ends[0]}${tail}`;
  }
}
