import type { LinkRules } from "../links/link-rules.ts";
import { dirOf, isExternal, isTemplate, stripExtension, underDir } from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { isDocument, unlisted } from "./pages.ts";

/**
 * Docsify renders Markdown in the browser. Its only configuration is a script in an HTML page next to the documents.
 */
export const docsify: Framework = {
  name: "docsify",
  marker: /(?:^|\/)_(?:sidebar|navbar|coverpage)\.md$/,
  load: loadDocsify,
};

/** Every route is a file name: `guide/` is `guide/README.md`, and `guide` is `guide.md`. */
const links: LinkRules = {
  markdown: "file",
  rootMarkdown: true,
  relative: "either",
  html: "never",
  redirects: true,
  base: "either",
  slashes: "exact",
};

async function loadDocsify(context: FrameworkContext, marker: string): Promise<Model | null> {
  let root = dirOf(marker);
  // A folder may have its own sidebar.
  while (root !== "" && !context.files.has(underDir(root, "index.html"))) root = dirOf(root);
  const page = underDir(root, "index.html");
  const text = await context.readText(page);
  if (text === null || !/\$docsify\b|docsify(?:@|\.min)?/i.test(text)) return null;
  const isRelative = /\brelativePath:\s*true\b/.test(text);
  const isHashed = !/\brouterMode:\s*["'`]history/.test(text);
  const aliases = readAliases(text);
  const home = /\bhomepage:\s*["'`]([^"'`:]+)["'`]/.exec(text)?.[1] ?? "README.md";
  const dialect: Dialect = { ...plainDialect, slug: "docsify", headingIds: ["colon"] };
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));

  function routeOf(path: string): string {
    const inside = inRoot(path);
    return inside === home ? "/" : `/${stripExtension(inside.replace(/(^|\/)README\.md$/, "$1"))}`;
  }

  /** The file that Docsify requests, relative to the root. A path with another extension is requested unchanged. */
  function fileAt(path: string): string {
    if (/^\/(?:README(?:\.md)?)?$/.test(path)) return `/${home}`;
    if (path.endsWith("/")) return `${path}README.md`;
    return /\.[a-z][a-z\d]{1,4}$/i.test(path) ? path : `${path}.md`;
  }

  return {
    framework: "docsify",
    root,
    configFiles: [page],
    // The cover, the sidebar and the navigation bar are shown on other pages.
    role: (path) => (isDocument(path, root) ? (/(?:^|\/)_[^/]*$/.test(path) ? "partial" : "page") : null),
    dialect: () => dialect,
    routes: (path) => [routeOf(path)],
    publicDirs: [root],
    basePath: "",
    ...unlisted,
    /**
     * `guide?id=here` is a heading. A path without a leading slash starts at the root unless configured otherwise; an
     * empty one too. `#/guide` is a page only in an HTML tag: in Markdown it is an id.
     */
    ownTarget(target, from, kind) {
      if (isExternal(target) || isTemplate(target)) return null;
      // The browser resolves the targets of tags, and sees every page at the root.
      if (kind === "src" && isHashed && /^(?:\.\/)?[^./]/.test(target))
        return { plain: `/${target.replace(/^\.\//, "")}`, name: target };
      if (!/^(?:link|definition|href)$/.test(kind)) return null;
      const route = kind === "href" ? target.replace(/^#(?=\/)/, "") : target;
      const [, name = "", mark = "", rest = ""] = /^([^?#]*)([?#]?)(.*)$/s.exec(route) ?? [];
      const id = mark === "#" ? rest : /(?:^|&)id=([^&#?]+)/.exec(rest)?.[1];
      // Docsify compares ids in lower case, except for non-ASCII letters. No heading id starts with a slash.
      const hash =
        id === undefined ? "" : `#${id.replace(/^\/+/, "").replace(/[A-Z]+/g, (text) => text.toLowerCase())}`;
      const isHere = mark === "#" && name === "";
      const base = isRelative && !name.startsWith("/") ? joinDots(dirOf(inRoot(from)), name) : `/${name}`;
      const plain = (isHere ? "" : fileAt(base.replace(/^\/+/, "/"))) + hash;
      return plain === target ? null : { plain, name };
    },
    // A path above the root resolves to the root only if the host serves nothing above it.
    isGenerated(route) {
      if (route.startsWith("..") && context.files.has(underDir(root, `${route.replace(/^[./]+/, "")}.md`))) return true;
      if (aliases === "unread" || aliases.length === 0) return aliases === "unread" ? aliasDoubt : false;
      return aliases.some((alias) => alias.test(`/${route}`) || alias.test(`/${route}.md`)) || aliasDoubt;
    },
    links,
    checksAbsolute: true,
    // Versions 4 and 5 differ in dashes.
    looseAnchors: true,
  };
}

const aliasDoubt = "`alias` in `index.html` serves some addresses from elsewhere";
const aliasMax = 80;

/** The patterns of `alias`, each for a whole path. "unread" if one could make matching slow. */
function readAliases(text: string): RegExp[] | "unread" {
  const block = /\balias:\s*\{([\s\S]*?)\n?\s*\}/.exec(text)?.[1] ?? "";
  const keys = [...block.matchAll(/^\s*["'`]([^"'`\n]+)["'`]\s*:/gm)].map(([, key = ""]) => key);
  const isPlain = (key: string): boolean => key.length <= aliasMax && key.split(/[*+{]/).length <= 3;
  if (!keys.every(isPlain)) return "unread";
  try {
    return keys.map((key) => new RegExp(`^${key}$`));
  } catch {
    return "unread";
  }
}

/**
 * Joins paths as Docsify does: a final dot leaves no slash, and segments above the root are dropped. Forges keep those.
 */
function joinDots(dir: string, path: string): string {
  const out: string[] = [];
  for (const part of underDir(dir, path).split("/")) {
    if (part === ".." && out.length > 0 && out.at(-1) !== "..") out.pop();
    else if (part !== ".") out.push(part);
  }
  return `/${out.join("/")}`;
}
