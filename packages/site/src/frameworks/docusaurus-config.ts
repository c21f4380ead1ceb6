import { joinPath } from "../links/target.ts";
import { entryOf, hasSpread, isComputed, type Literal, stringOf, walkLiteral } from "../literal/literal.ts";
import type { FrameworkContext } from "./framework.ts";

/** One docs folder at one version, with the route it is served under. */
export interface DocsFolder {
  /** Plugin instance and version: the scope of sidebar ids. */
  id: string;
  dir: string;
  base: string;
  sidebar: string | null;
  /** A second possible route, if the configuration computes the last version. */
  otherBase?: string;
  /** The version that readers see by default. */
  isLatest: boolean;
  /** For a translation: its language, and the folder that is served for untranslated pages. */
  translation?: { locale: string; of: string };
}

/** A string, or the only string inside an expression such as `require.resolve("./sidebars.js")`. */
function textIn(literal: Literal | undefined): string | null {
  if (literal === undefined) return null;
  const texts = [...walkLiteral(literal)].filter((node) => node.kind === "string");
  return texts.length === 1 ? stringOf(texts[0]) : null;
}

interface Instance {
  id: string;
  path: string;
  routeBasePath: string;
  sidebarPath: string | null;
  /** "?" if only the build knows. */
  lastVersion: string | null;
  /** The `path` of a version, if it differs from the version's name. */
  pathOf(version: string): string | null;
}

/** A string. Null if absent, "?" if the configuration computes it. */
function versionIn(literal: Literal | undefined): string | null {
  return literal === undefined ? null : (stringOf(literal) ?? "?");
}

function instance(options: Literal | undefined): Instance {
  return {
    id: textIn(entryOf(options, "id")) ?? "default",
    path: textIn(entryOf(options, "path")) ?? "docs",
    routeBasePath: textIn(entryOf(options, "routeBasePath")) ?? "docs",
    sidebarPath: textIn(entryOf(options, "sidebarPath")),
    lastVersion: versionIn(entryOf(options, "lastVersion")),
    pathOf: (version) => stringOf(entryOf(entryOf(entryOf(options, "versions"), version), "path")),
  };
}

/** A path in a call such as `path.resolve(__dirname, "../docs")` is known. */
const pathCall = /^(?:require\.resolve|(?:path\.)?(?:resolve|join))\(/;

/** The setting of a plugin that decides addresses and is computed. */
function computedIn(options: Literal | undefined, text: string): string | null {
  const isOpen = (name: string): boolean => {
    const value = entryOf(options, name);
    const isPath = value !== undefined && textIn(value) !== null && pathCall.test(text.slice(value.start, value.end));
    return !isPath && isComputed(options, name, text);
  };
  return ["path", "routeBasePath"].find(isOpen) ?? (hasSpread(options, text) ? "options" : null);
}

/** The setting of a configuration that decides addresses, if it is computed. */
export function computedSetting(config: Literal, text: string): string | null {
  for (const node of walkLiteral(config)) {
    if (entryOf(node, "baseUrl") !== undefined || entryOf(node, "presets") !== undefined) {
      if (hasSpread(node, text)) return "settings";
      const name = ["presets", "plugins", "i18n"].find((one) => isComputed(node, one, text));
      if (name !== undefined) return name;
    }
    const name = stringOf(node.kind === "array" ? node.items[0] : undefined) ?? "";
    const options = node.kind === "array" ? node.items[1] : undefined;
    if (/content-(?:docs|blog)(?:\/|$)/.test(name)) {
      const found = options?.kind === "other" ? "options" : computedIn(options, text);
      if (found !== null) return found;
    }
    if (!/(?:^|preset-)classic$/.test(name)) continue;
    if (options?.kind === "other") return "presets";
    for (const key of ["docs", "blog"]) {
      const found = isComputed(options, key, text) ? key : computedIn(entryOf(options, key), text);
      if (found !== null) return found;
    }
  }
  return null;
}

/** A folder of blog posts. */
export interface BlogFolder {
  id: string;
  path: string;
  route: string;
}

/** The blogs of a configuration. Without a preset, the usual one. */
export function readBlogs(config: Literal): BlogFolder[] {
  const blogOf = (options: Literal | undefined): BlogFolder => ({
    id: textIn(entryOf(options, "id")) ?? "default",
    path: textIn(entryOf(options, "path")) ?? "blog",
    route: textIn(entryOf(options, "routeBasePath")) ?? "blog",
  });
  const found: BlogFolder[] = [];
  let isOff = false;
  for (const node of walkLiteral(config)) {
    const [name, options] = node.kind === "array" ? node.items : [];
    if (/content-blog(?:\/|$)/.test(stringOf(name) ?? "")) found.push(blogOf(options));
    const blog = entryOf(node, "blog");
    if (blog?.kind === "object" && entryOf(node, "docs") !== undefined) found.push(blogOf(blog));
    // Not an object: false, or a variable.
    isOff ||= blog?.kind === "other";
  }
  return found.some(({ id }) => id === "default") || isOff ? found : [blogOf(undefined), ...found];
}

function findInstances(config: Literal): Instance[] {
  const found: Instance[] = [];
  for (const node of walkLiteral(config)) {
    const docs = entryOf(node, "docs");
    if (
      docs?.kind === "object" &&
      (entryOf(node, "theme") !== undefined ||
        entryOf(node, "blog") !== undefined ||
        entryOf(docs, "sidebarPath") !== undefined ||
        entryOf(docs, "path") !== undefined)
    ) {
      found.push(instance(docs));
    }
    if (node.kind !== "array" || !/content-docs(?:\/|$)/.test(stringOf(node.items[0]) ?? "")) continue;
    found.push(instance(node.items[1]));
  }
  return found.length > 0 ? found : [instance(undefined)];
}

/** The docs plugins of an evaluated configuration: those of its presets, and its own. */
function evaluatedInstances(values: Literal): Instance[] {
  const list = (key: string): Literal[] => {
    const found = entryOf(values, key);
    return found?.kind === "array" ? found.items : [];
  };
  const optionsOf = (item: Literal): Literal | undefined => (item.kind === "array" ? item.items[1] : undefined);
  const nameOf = (item: Literal): string => stringOf(item.kind === "array" ? item.items[0] : item) ?? "";
  const ofPresets = list("presets").flatMap((preset) => {
    const docs = entryOf(optionsOf(preset), "docs");
    // `docs: false` turns them off. A preset that is not Docusaurus' own may have none.
    const hasDocs = docs === undefined ? /classic/.test(nameOf(preset)) : docs.kind === "object";
    return hasDocs ? [instance(docs)] : [];
  });
  const own = list("plugins").filter((plugin) => /content-docs(?:\/|$)/.test(nameOf(plugin)));
  return [...ofPresets, ...own.map((plugin) => instance(optionsOf(plugin)))];
}

function route(...parts: string[]): string {
  return `/${parts
    .flatMap((part) => part.split("/"))
    .filter((part) => part !== "")
    .join("/")}`;
}

/** The configured docs folders, with those of older versions. */
export async function readDocsFolders(context: FrameworkContext, config: Literal, top: string): Promise<DocsFolder[]> {
  const folders: DocsFolder[] = [];
  const instances = context.evaluated === undefined ? findInstances(config) : evaluatedInstances(config);
  const at = (path: string): string => joinPath(top, path) ?? path;
  for (const { id, path, routeBasePath, sidebarPath, lastVersion, pathOf } of instances) {
    const prefix = id === "default" ? "" : `${id}_`;
    const text = await context.readText(at(`${prefix}versions.json`));
    const versions = text === null ? [] : [...text.matchAll(/"([^"]+)"/g)].map((match) => match[1] as string);
    const isOpen = lastVersion === "?";
    const latest = (isOpen ? null : lastVersion) ?? versions[0] ?? "current";
    const baseOf = (name: string, usual: string): string =>
      `${routeBasePath}/${pathOf(name) ?? (name === latest ? "" : usual)}`;
    const other = (name: string): { otherBase?: string } =>
      !isOpen || versions.length === 0
        ? {}
        : { otherBase: route(name === latest ? `${routeBasePath}/${name}` : routeBasePath) };
    folders.push({
      id: `${id}@current`,
      dir: at(path),
      base: route(baseOf("current", "next")),
      ...other("current"),
      sidebar: sidebarPath === null ? null : at(sidebarPath),
      isLatest: latest === "current",
    });
    for (const version of versions) {
      folders.push({
        id: `${id}@${version}`,
        dir: at(`${prefix}versioned_docs/version-${version}`),
        ...other(version),
        base: route(baseOf(version, version)),
        sidebar: at(`${prefix}versioned_sidebars/version-${version}-sidebars.json`),
        isLatest: version === latest,
      });
    }
  }
  folders.push(...translations(context, config, top, folders));
  // The most specific folder first: a page belongs to only one.
  return folders.sort((a, b) => b.dir.length - a.dir.length);
}

/** The languages, except the default one, that the repository has files for. */
export function readLocales(
  context: FrameworkContext,
  config: Literal,
  top: string,
): { dir: string; locale: string }[] {
  const i18n = [...walkLiteral(config)].map((node) => entryOf(node, "i18n")).find((node) => node?.kind === "object");
  const standard = textIn(entryOf(i18n, "defaultLocale")) ?? "en";
  const folder = joinPath(top, textIn(entryOf(i18n, "path")) ?? "i18n") ?? "i18n";
  const found = new Map<string, string>();
  for (const path of context.files.keys()) {
    if (!path.startsWith(`${folder}/`)) continue;
    const [locale = "", plugin] = path.slice(folder.length + 1).split("/");
    if (locale !== standard && plugin?.startsWith("docusaurus-plugin-content-"))
      found.set(locale, `${folder}/${locale}`);
  }
  return [...found].map(([locale, dir]) => ({ locale, dir }));
}

/** Each language has its own copy of the docs folders, served below its name. */
function translations(
  context: FrameworkContext,
  config: Literal,
  top: string,
  folders: readonly DocsFolder[],
): DocsFolder[] {
  return readLocales(context, config, top).flatMap(({ locale, dir }) =>
    folders.map(({ id, dir: of, base }) => {
      const [instance = "", version = ""] = id.split("@");
      const plugin = `docusaurus-plugin-content-docs${instance === "default" ? "" : `-${instance}`}`;
      return {
        id: `${locale}/${id}`,
        dir: `${dir}/${plugin}/${version === "current" ? version : `version-${version}`}`,
        base: route(locale, base),
        sidebar: null,
        isLatest: false,
        translation: { locale, of },
      };
    }),
  );
}
