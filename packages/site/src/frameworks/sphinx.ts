import { decodePath, dirOf, isBelow, joinPath, relativePath, stripExtension, underDir } from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { indexLines } from "../text/bytes.ts";
import type { Framework, FrameworkContext, Model, NavItem, NavList } from "./framework.ts";
import { createIgnore, isDocument, unlisted } from "./pages.ts";
import { insertLines } from "./yaml-source.ts";

/** Sphinx with Markdown pages, parsed by MyST. */
export const sphinx: Framework = {
  name: "sphinx",
  marker: /(?:^|\/)conf\.py$/,
  confirm: (text) => /["'](?:myst_parser|myst_nb|recommonmark|sphinx_immaterial)["']/.test(text),
  load: loadSphinx,
};

/** {doc}`page` or {doc}`Title <page>`. */
// A label may have dots too.
const isFileName =
  /\.(?:mdx?|rst|ipynb|html?|txt|py|ya?ml|json|toml|csv|pdf|zip|png|jpe?g|gif|svg|webp|ico|js|css|sh)(?:#|$)/i;

const roleTarget = /^\{(doc|ref|numref|any)\}`(?:[^`]*<)?([^`<>]+?)>?`$/;

/** Sphinx compares labels without case, and takes white space as one space. */
function normalLabel(label: string): string {
  return label.toLowerCase().replace(/\s+/g, " ").trim();
}

// They give names to objects of code, or to headings.
const namingExtension = /intersphinx|autodoc|autoapi|autosummary|autosectionlabel/;

interface Conf {
  patterns: readonly string[];
  hasMyst: boolean;
  /** The last level of headings with anchors. Null if only the build knows. */
  anchors: number | null;
  /** The text that names the extensions. */
  extensions: string;
  extraPaths: readonly string[];
}

/** What the configuration says, by its values if it was run, otherwise by its text. */
function readConf(text: string, values: FrameworkContext["evaluated"]): Conf {
  if (values !== undefined) {
    const texts = (list: unknown): string[] =>
      Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
    const extensions = texts(values.extensions);
    const { myst_heading_anchors: anchors = 0 } = values;
    return {
      patterns: texts(values.exclude_patterns),
      hasMyst: extensions.includes("myst_parser"),
      anchors: typeof anchors === "number" || anchors === null ? (anchors ?? 0) : null,
      extensions: extensions.join(" "),
      extraPaths: texts(values.html_extra_path),
    };
  }
  const list = /^exclude_patterns\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1] ?? "";
  const anchors = /^myst_heading_anchors\s*=\s*(\d+)?/m.exec(text);
  return {
    patterns: [...list.matchAll(/["']([^"']+)["']/g)].map(([, pattern = ""]) => pattern),
    hasMyst: /["']myst_parser["']/.test(text),
    anchors: anchors === null ? 0 : anchors[1] === undefined ? null : Number(anchors[1]),
    extensions: text,
    extraPaths: [...text.matchAll(/^html_extra_path\s*=\s*\[["']([^"']+)/gm)].map(([, dir = ""]) => dir),
  };
}

async function loadSphinx(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = (await context.readText(marker)) ?? "";
  const root = dirOf(marker);
  const conf = readConf(text, context.evaluated);
  const { patterns } = conf;
  const isExcluded = createIgnore(["_build", ...patterns].join("\n"));
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const isPage = (path: string): boolean => isDocument(path, root) && !isExcluded(inRoot(path));
  if (![...context.files.keys()].some(isPage)) return null;
  // Only headings down to this level can be linked.
  const isKnown = conf.hasMyst && conf.anchors !== null;
  const dialect: Dialect = {
    ...plainDialect,
    colons: true,
    headingIds: [],
    idLevels: [1, isKnown ? (conf.anchors ?? 0) : 6],
    includes: "myst",
  };
  // A fragment alone may name a label on any page, or an id from other extensions and parsers.
  const extension = namingExtension.exec(conf.extensions)?.[0];
  /** Label → its file. */
  const labels = new Map<string, string>();
  let hasNotebooks = false;
  const included = new Set<string>();
  const lists: NavList[] = [];
  for (const path of context.files.keys()) {
    if (isBelow(path, root) && path.endsWith(".ipynb")) hasNotebooks = true;
    const isText = isBelow(path, root) && /\.(?:rst|txt|inc)$/.test(path) && !isExcluded(inRoot(path));
    if (!isText && !isPage(path)) continue;
    const page = (await context.readText(path)) ?? "";
    for (const [, label = ""] of page.matchAll(/^[ \t]*\(([^()\n]+)\)=/gm)) labels.set(normalLabel(label), path);
    for (const [, label = ""] of page.matchAll(/^[ \t]*\.\. _`?([^`:\n]+)`?:/gm)) labels.set(normalLabel(label), path);
    for (const [, label = ""] of page.matchAll(/^[ \t]*:(?:name|label):[ \t]*(\S.*?)[ \t]*$/gm))
      labels.set(normalLabel(label), path);
    if (isText) continue;
    for (const [, file = ""] of page.matchAll(/\{include\}[ \t]+(\S+\.md)/g))
      included.add(joinPath(file.startsWith("/") ? root : dirOf(path), file.replace(/^\//, "")) ?? "");
    if (page.includes("{toctree}")) lists.push(...readToctrees(context, root, path, page));
    await context.breathe();
  }
  const source = extension ?? (hasNotebooks ? "notebooks" : undefined);
  /** `package.Class` and `Class`, if an extension documents code. */
  const isObject = (name: string): boolean => extension !== undefined && /[.A-Z]|^inv:/.test(name);
  return {
    framework: "sphinx",
    root,
    configFiles: [marker, ...new Set(lists.map(({ file }) => file))],
    role: (path) => (isPage(path) ? "page" : included.has(path) ? "partial" : null),
    dialect: () => dialect,
    routes: (path) => [`/${stripExtension(inRoot(path))}.html`],
    publicDirs: [root, ...conf.extraPaths.map((dir) => underDir(root, dir))],
    basePath: "",
    ...unlisted,
    navigation: lists,
    navRoute: (target) => ({ path: target }),
    navTarget: (path, _route, _fields, list) => stripExtension(relativePath(dirOf(list.file), path)),
    ownTarget(target, from) {
      const [, role = "", name = ""] = roleTarget.exec(target) ?? [];
      const place =
        role === "doc" ? joinPath(name.startsWith("/") ? root : dirOf(from), name.replace(/^\//, "")) : null;
      // Labels may be on any page, or in a file of another parser.
      const isOther = role !== "doc" || [".rst", ".ipynb"].some((end) => context.files.has(place + end));
      const labelled = role === "ref" || role === "any" ? labels.get(normalLabel(name)) : undefined;
      if (labelled !== undefined) return { plain: `label:${labelled}`, name: target };
      if (role !== "") return { plain: isOther ? `{${target}}` : `${name}.md`, name, at: target.lastIndexOf(name) };
      // MyST resolves the fragment of `.#id` on the page itself.
      const own = /^\.\/?(#.*)$/.exec(target)?.[1];
      if (own !== undefined) return { plain: own, name: target };
      if (target.startsWith("#")) {
        const file = labels.get(normalLabel(target.slice(1)));
        if (file !== undefined) return { plain: `label:${file}`, name: target };
        // Objects of code have such names.
        return isObject(target.slice(1)) ? { plain: `{${target}}`, name: target } : null;
      }
      // Sphinx does not resolve paths above the root.
      if (target.startsWith("../") && joinPath(dirOf(from), target.replace(/[?#].*$/, "")) === null)
        return { plain: `{${target}}`, name: target };
      // `[text](label)` names a document, or a label on any page.
      const stem =
        joinPath(target.startsWith("/") ? root : dirOf(from), decodePath(target.replace(/^\/|#.*$/g, ""))) ?? "";
      const isDocumented = [".md", ".rst", ".ipynb", ""].some((end) => context.files.has(stem + end));
      if (isDocumented || target.startsWith(".") || isFileName.test(target)) return null;
      const file = labels.get(normalLabel(target));
      if (file !== undefined) return { plain: `label:${file}`, name: target };
      // A path from the top of the docs names a document, and nothing else.
      const isOpen = !target.startsWith("/") && (isObject(target) || /[/?]/.test(target));
      return { plain: isOpen ? `{${target}}` : `${target}.md`, name: target };
    },
    // A name that is neither a page nor a label.
    ...(source === undefined
      ? {}
      : { isGenerated: () => `\`${source}\` may define this name`, makesIds: `\`${source}\`` }),
    checksAbsolute: "images",
    links: {
      markdown: "file",
      sources: "pages",
      rootMarkdown: true,
      relative: "file",
      html: "never",
      redirects: true,
      base: "either",
      slashes: "either",
    },
    looseAnchors: isKnown ? false : "unknown",
  };
}

/** Joins as Sphinx does: nothing is above the folder of the sources. */
function joinInside(root: string, dir: string, name: string): string {
  const out = (root === "" ? dir : dir.slice(root.length + 1)).split("/").filter((part) => part !== "");
  for (const part of name.split("/")) {
    if (part === "..") out.pop();
    else if (part !== "" && part !== ".") out.push(part);
  }
  return underDir(root, out.join("/"));
}

const toctree = /^([`~:]{3,})\{toctree\}[^\n]*\n([\s\S]*?)^\1[`~:]*[ \t]*\r?$/gm;
/** `page`, `/page`, `page.md` or `Title <page>`. Options start with a colon. */
const entry = /^[ \t]*(?!:|---)(?:([^<\n]*?)[ \t]*<([^>\n]+)>|(\S[^\n]*?))[ \t]*\r?$/gm;

/** The text with code blanked out, because code contains examples. Directives stay: their content is parsed. */
function withoutCode(text: string): string {
  const open: { fence: string; isCode: boolean; end: number }[] = [];
  let out = text;
  for (const { 0: line, 1: fence = "", 2: info = "", index } of text.matchAll(/^[ \t]*([`~:]{3,})([^\n]*)$/gm)) {
    const last = open.at(-1);
    if (last !== undefined && info.trim() === "" && fence.startsWith(last.fence)) {
      open.pop();
      if (last.isCode)
        out = out.slice(0, last.end) + out.slice(last.end, index).replace(/[^\n]/g, " ") + out.slice(index);
    } else if (last?.isCode !== true && (info.trim() !== "" || !fence.startsWith(":"))) {
      const isCode = !fence.startsWith(":") && !/^\{(?!(?:code|sourcecode|parsed-literal)\b)/.test(info.trim());
      open.push({ fence, isCode, end: index + line.length });
    }
  }
  return out;
}

/** The toctree lists in a page's text. */
function readToctrees(context: FrameworkContext, root: string, file: string, text: string): NavList[] {
  const lines = indexLines(text);
  return [...withoutCode(text).matchAll(toctree)].flatMap((block) => {
    // Options may be between lines of dashes.
    const body = (block[2] as string).replace(/^---\n[\s\S]*?^---\n/m, (options) => options.replace(/[^\n]/g, " "));
    const bodyStart = block.index + block[0].indexOf("\n") + 1;
    const items = [...body.matchAll(entry)].map((found): NavItem => {
      const name = (found[2] ?? found[3]) as string;
      const lead = found[0].length - found[0].trimStart().length;
      const start = bodyStart + found.index + lead;
      const targetStart = bodyStart + found.index + found[0].lastIndexOf(name);
      const place = joinInside(root, name.startsWith("/") ? root : dirOf(file), name);
      const page = ["", ".md", ".rst", ".ipynb"].map((end) => `${place}${end}`).find((one) => context.files.has(one));
      return {
        start,
        end: bodyStart + found.index + found[0].trimEnd().length,
        ...lines.place(start),
        target: page ?? `${place}.md`,
        targetStart,
        targetEnd: targetStart + name.length,
        label: found[1] ?? null,
        // Globs, URLs, files of other parsers, and generated pages.
        isForeign:
          /[*?[]|^[a-z]+:|^(?:self|genindex|modindex|search)$|\.(?:rst|ipynb)$/i.test(name) ||
          (page !== undefined && !page.endsWith(".md")),
      };
    });
    if (items.length === 0) return [];
    const first = items[0] as NavItem;
    const list: NavList = {
      file,
      trail: [/^:caption:[ \t]*(.+?)[ \t]*\r?$/m.exec(body)?.[1] ?? ""].filter((name) => name !== ""),
      items,
      written(target, item) {
        const old = text.slice(item.targetStart, item.targetEnd);
        const ending = /\.md$/.exec(old)?.[0] ?? "";
        const path = joinPath(dirOf(file), target) ?? target;
        return (old.startsWith("/") ? `/${root === "" ? path : path.slice(root.length + 1)}` : target) + ending;
      },
      insert: (source, index, target) => {
        const before = items[index - 1] ?? first;
        return insertLines(source, before.end, before.start, [target]);
      },
    };
    return [list];
  });
}
