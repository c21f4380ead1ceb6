// Judges what the check is certain of, and what moves leave behind, in the corpus. It imports nothing from the project:
// neither the index nor the second resolver. It is lenient: what exists by any reading that it knows counts against Emend.

export interface Repository {
  files: ReadonlySet<string>;
  /** The text of each document. */
  texts: ReadonlyMap<string, string>;
  /** The text of any file. Null: not there, or too large. */
  read(path: string): Promise<string | null>;
  /** Relative links start at the top, not at their page. */
  startsAtTop: boolean;
}

export interface JudgedError {
  check: string;
  path: string;
  line: number;
  message: string;
}

const document = /\.(?:mdx?|markdown|mdoc|rst|ipynb|html?)$/i;
const settings = /\.(?:json|jsonc|json5|[cm]?[jt]sx?|ya?ml|toml|conf)$|(?:^|\/)(?:_redirects|\.htaccess)$/i;
const settingsFilesMax = 3000;

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function walk(from: string, to: string): string | null {
  const out: string[] = [];
  for (const part of `${from}/${to}`.split("/")) {
    if (part === "..") {
      if (out.pop() === undefined) return null;
    } else if (part !== "" && part !== ".") out.push(part);
  }
  return out.join("/");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address that a document has by its name, or that a target means. */
function bare(path: string): string {
  return path.replace(document, "").replace(/(?:^|\/)(?:index|readme|_index|page)$/i, "");
}

function addresses(path: string): string[] {
  const plain = bare(path);
  const grouped = plain.replace(/(^|\/)\([^/]*\)(?=\/|$)/g, "$1").replace(/^\/|\/\/+/g, "/");
  const sorted = grouped.replace(/(^|\/)\d+[-_. ]+(?=[^/\d])/g, "$1");
  const spoken = sorted.replace(/\.[a-z]{2}(?:-[a-z]{2,4})?$/i, "");
  return [plain, grouped, sorted, spoken].flatMap((one) => {
    const lower = one.toLowerCase();
    return [one, lower, lower.replace(/[\s.]+/g, "-"), lower.replace(/[^\p{L}\p{N}\s/_-]/gu, "").replace(/\s+/g, "-")];
  });
}

export interface World {
  repository: Repository;
  byAddress: ReadonlyMap<string, ReadonlySet<string>>;
  /** The last two parts of an address → the addresses that end so. */
  byEnd: ReadonlyMap<string, readonly { address: string; file: string }[]>;
  /** Addresses that documents give themselves. */
  own: ReadonlyMap<string, ReadonlySet<string>>;
  roots: readonly string[];
}

const language = /(?:^|\/)[a-z]{2}(?:-[a-z]{2,4})?$/i;

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}

function ending(address: string): string {
  return address.split("/").slice(-2).join("/");
}

const ownAddress = /^\s*(?:slug|permalink|url|id|aliases|redirect_from|-)\s*:?\s+\[?["']?([^"'\n\]]+)/gm;

export function makeWorld(repository: Repository): World {
  const byAddress = new Map<string, Set<string>>();
  const byEnd = new Map<string, { address: string; file: string }[]>();
  const own = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  for (const [path, text] of repository.texts) {
    for (const address of new Set(addresses(path))) {
      const key = address.replace(/^\/|\/$/g, "");
      put(byAddress, key, path);
      const same = byEnd.get(ending(key));
      if (same === undefined) byEnd.set(ending(key), [{ address: key, file: path }]);
      else same.push({ address: key, file: path });
    }
    const head = /^(?:---|\+\+\+)\r?\n([\s\S]*?)\n(?:---|\+\+\+)/.exec(text)?.[1] ?? "";
    for (const [, value = ""] of head.matchAll(ownAddress)) {
      const key = value.trim().replace(/^\/|\/$/g, "");
      put(own, key, path);
      put(own, walk(folderOf(bare(path)), key) ?? key, path);
    }
    for (let dir = folderOf(path); ; dir = folderOf(dir)) {
      counts.set(dir, (counts.get(dir) ?? 0) + 1);
      if (dir === "") break;
    }
  }
  const many = Math.max(2, repository.texts.size / 3);
  const large = [...counts].filter(([, count]) => count >= many).map(([dir]) => dir);
  const languages = [...counts.keys()].filter((dir) => language.test(dir) && large.includes(folderOf(dir)));
  const roots = [...large, ...languages];
  const assets = ["public", "static", "assets", ".gitbook/assets"];
  const all = new Set(["", ...roots, ...roots.map(folderOf)]);
  for (const root of [...all]) for (const name of assets) all.add(walk(root, name) ?? name);
  return { repository, byAddress, byEnd, own, roots: [...all] };
}

function at(world: World, path: string): string[] {
  if (world.repository.files.has(path)) return [path];
  const key = bare(path).replace(/\/$/, "");
  return [...(world.byAddress.get(key) ?? []), ...(world.own.get(key) ?? [])];
}

/**
 * Everything that a target may mean, by the way that it is read. `isFirst`: only the nearest reading from the top that
 * leads to something, so that a link to one language or version does not count as one to all of them.
 */
function readings(
  world: World,
  from: string,
  target: string,
  isFirst = false,
): Map<"file" | "address" | "top", Set<string>> {
  const path = decoded((target.split(/[?#]/)[0] ?? "").trim());
  const found = new Map<"file" | "address" | "top", Set<string>>();
  const note = (how: "file" | "address" | "top", files: readonly string[]): void => {
    for (const file of files) {
      const known = found.get(how);
      if (known === undefined) found.set(how, new Set([file]));
      else known.add(file);
    }
  };
  const inside = walk("", path.replace(/^(?:\.?\.?\/)+/, "")) ?? "";
  if (!path.startsWith("/") && !world.repository.startsAtTop) {
    const page = bare(from);
    note("file", at(world, walk(folderOf(from), path) ?? "\0"));
    for (const start of [page, folderOf(page)]) note("address", at(world, walk(start, path) ?? "\0"));
  }
  if (!path.startsWith("/") && !world.repository.startsAtTop) return found;
  const short = inside.includes("/") ? inside.slice(inside.indexOf("/") + 1) : null;
  const key = bare(inside);
  const holds = (root: string): boolean => root === "" || from.startsWith(`${root}/`);
  const whole = (roots: readonly string[]): void => {
    for (const root of roots) note("top", at(world, walk(root, inside) ?? "\0"));
  };
  const ways = [
    () => whole(world.roots.filter(holds)),
    () => whole(world.roots.filter((root) => !holds(root))),
    () => {
      if (!key.includes("/")) return;
      for (const { address, file } of world.byEnd.get(ending(key)) ?? [])
        if (address === key || address.endsWith(`/${key}`)) note("top", [file]);
    },
    // Below the base path of the site.
    () => {
      for (const root of short !== null && path.startsWith("/") ? world.roots : [])
        if (!isFolder(world, walk(root, folderTop(inside)) ?? ""))
          note("top", at(world, walk(root, short ?? "") ?? "\0"));
    },
  ];
  for (const way of ways) {
    way();
    if (isFirst && found.size > 0) break;
  }
  return found;
}

function folderTop(path: string): string {
  return path.split("/")[0] ?? "";
}

const folders = new WeakMap<World, Set<string>>();

function isFolder(world: World, path: string): boolean {
  let known = folders.get(world);
  if (known === undefined) {
    known = new Set();
    for (const file of world.repository.files)
      for (let dir = folderOf(file); dir !== "" && !known.has(dir); dir = folderOf(dir)) known.add(dir);
    folders.set(world, known);
  }
  return known.has(path);
}

function slugs(title: string): string[] {
  const plain = title
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]*>|\{[^}]*\}|[`*]/g, "")
    .trim();
  const names: string[] = [];
  for (const text of [plain, title.replace(/[`*]/g, "").trim()]) {
    const lower = text.toLowerCase();
    const github = lower.replace(/[^\p{L}\p{M}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    const dashed = lower.replace(/[^\p{L}\p{M}\p{N}_]+/gu, "-");
    const ascii = lower
      .normalize("NFD")
      .replace(/[\u0300-\u036f]/g, "")
      .replace(/[^\w\s-]/g, "")
      .replace(/[-\s]+/g, "-");
    for (const one of [github, github.replace(/-+/g, "-"), dashed, ascii, lower.replace(/\s+/g, "-")])
      names.push(one, one.replace(/^[-_]+|[-_]+$/g, ""));
  }
  return names;
}

const includes = /\b(?:import|include|snippet|transclude|embed)|8<|<<</i;

/** Every id that a document may have, with those of the documents that it includes. */
function idsOf(world: World, path: string, depth = 0): Set<string> {
  const text = world.repository.texts.get(path) ?? "";
  const ids = new Set<string>();
  const lines = text.split("\n");
  for (const [n, line] of lines.entries()) {
    const isUnderlined = /^\s*(?:=+|-{2,}|~{3,})\s*$/.test(lines[n + 1] ?? "");
    const title = /^[\s>*-]*#{1,6}\s*(.+?)\s*#*\s*$/.exec(line)?.[1] ?? (isUnderlined ? line : null);
    // An id that is written replaces the one that is made.
    if (title !== null && !/(?:\{:?\s*#[^}]*\}|\[#[^\]]*\])\s*$/.test(title))
      for (const id of slugs(title)) ids.add(id);
    for (const [, , value = ""] of line.matchAll(/[\w:-]+=\{?(["'`])(.*?)\1/g))
      for (const id of [value, ...slugs(value)]) ids.add(id);
    for (const [, value = ""] of line.matchAll(/[#^]([^\s{}[\]()<>"']+)[\s}\].]/g))
      if (!/\]\([^)]*#/.test(line) || line.includes(`{#${value}`)) ids.add(value);
    const label = /^\s*(?:\(([^)]+)\)=|\.\. _([^:]+):|:name:\s*(\S+))/.exec(line)?.slice(1).find(Boolean);
    if (label !== undefined) ids.add(label);
    for (const [, value = ""] of line.matchAll(/<h\d[^>]*>(.*?)<\/h\d>/g)) for (const id of slugs(value)) ids.add(id);
    if (depth < 2 && includes.test(line)) {
      for (const [, value = ""] of line.matchAll(/["'`\s({<:]([^"'`\s(){}<>]+\.(?:mdx?|markdown|rst))/g))
        for (const files of readings(world, path, value).values())
          for (const file of files) for (const id of idsOf(world, file, depth + 1)) ids.add(id);
    }
  }
  return ids;
}

/** Whether a line is code or a comment, which no builder turns into a link. */
function isHidden(text: string, line: number): boolean {
  let fence = "";
  const before = text.split("\n").slice(0, line);
  for (const one of before) {
    const mark = /^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})/.exec(one)?.[1] ?? "";
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence)) fence = "";
  }
  const above = before.slice(0, -1).join("\n");
  const isOpen = (open: string, close: string): boolean => above.lastIndexOf(open) > above.lastIndexOf(close);
  const last = before.at(-1) ?? "";
  return (fence !== "" && !/^[\s>]*[`~]{3,}\{/.test(last)) || isOpen("<!--", "-->") || isOpen("{/*", "*/}");
}

const ofTargets = new Set(["broken-link", "broken-anchor", "broken-navigation", "broken-redirect", "missing-file"]);

/** The errors that something in the repository speaks against. */
export async function contestedErrors(world: World, errors: readonly JudgedError[]): Promise<JudgedError[]> {
  const contested: JudgedError[] = [];
  const names = new Map<JudgedError, string>();
  const known = new Map<string, Set<string>>();
  const has = (page: string, id: string): boolean => {
    const ids = known.get(page) ?? idsOf(world, page);
    known.set(page, ids);
    return ids.has(id) || ids.has(decoded(id));
  };
  for (const error of errors) {
    const { check, path, line, message } = error;
    if (!ofTargets.has(check)) continue;
    const text = world.repository.texts.get(path);
    const anchor = /^No heading on (?:this page|`([^`]*)`) has the id `([^`]*)`/.exec(message);
    const target = /`([^`]+)`/.exec(message)?.[1] ?? "";
    if (text !== undefined && isHidden(text, line)) contested.push(error);
    else if (anchor !== null) {
      const id = anchor[2] ?? "";
      const pages = new Set([anchor[1] ?? path]);
      for (const { target: one } of linksOf((text ?? "").split("\n")[line - 1] ?? ""))
        if (decoded(one).endsWith(`#${decoded(id)}`) && !one.startsWith("#"))
          for (const files of readings(world, path, one).values()) for (const file of files) pages.add(file);
      if ([...pages].some((page) => has(page, id))) contested.push(error);
    } else if (message.startsWith("The redirect")) {
      const to = /leads to `([^`]+)`/.exec(message)?.[1];
      if (to !== undefined && readings(world, path, `/${to.replace(/^\//, "")}`).size > 0) contested.push(error);
    } else if (readings(world, path, target).size > 0) contested.push(error);
    else if (target.startsWith("/") && target.length > 2)
      names.set(error, target.split(/[?#]/)[0]?.replace(/\/$/, "") ?? target);
  }
  if (names.size === 0) return contested;
  let left = settingsFilesMax;
  for (const file of world.repository.files) {
    if (!settings.test(file) || /(?:^|\/)(?:node_modules|package-lock\.json)/.test(file) || left-- <= 0) continue;
    const text = await world.repository.read(file);
    for (const [error, name] of names) {
      const index =
        file === error.path || text === null ? -1 : text.search(new RegExp(`["'\`\\s]${asPattern(name)}/?["'\`\\s]`));
      if (index < 0) continue;
      contested.push(error);
      names.delete(error);
    }
  }
  return contested;
}

function asPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

const written =
  /\]\(\s*<?([^)\s>]+(?:\([^)\s]*\)[^)\s>]*)*)|^\s{0,3}\[[^\]\n]+\]:\s*<?(\S+?)>?\s*$|\b(?:href|src|to|url|link)=\{?["'`]([^"'`]+)["'`]|\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`/gm;

function linksOf(text: string): { target: string }[] {
  let fence = "";
  const lines = text.split("\n").map((line) => {
    const mark = /^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})(?!\{)/.exec(line)?.[1] ?? "";
    const wasOpen = fence !== "";
    if (!wasOpen) fence = mark;
    else if (mark.startsWith(fence)) fence = "";
    return wasOpen || mark !== "" ? "" : line.replace(/(?<!`|\{doc\})(`+)(?!`)(?:(?!\1).)*?\1(?!`)(?!\]\()/g, "");
  });
  return [...lines.join("\n").matchAll(written)].map((match) => ({
    target: match.slice(1).find((one) => one !== undefined) ?? "",
  }));
}

function isOutside(target: string): boolean {
  return /^(?:[a-z][a-z\d+.-]*:|\/\/|#|\{|<)/i.test(target) || /\{[{%]|\$\{/.test(target);
}

export interface JudgedMove {
  from: string;
  to: string;
  edits: ReadonlyMap<string, string | null>;
  /** Pages with a link that a person has been told of. */
  told: ReadonlySet<string>;
}

/** Links that led to what moved, or from it, and do not any more: the number followed, and those that are dead. */
export function followMove(world: World, move: JudgedMove): { followed: number; dead: string[] } {
  const { files, texts, read, startsAtTop } = world.repository;
  const { from, to, edits, told } = move;
  const newFiles = new Set([...files].filter((path) => edits.get(path) !== null));
  const newTexts = new Map([...texts].filter(([path]) => edits.get(path) !== null));
  let added = "";
  for (const [path, text] of edits) {
    if (text === null) continue;
    newFiles.add(path);
    if (document.test(path)) newTexts.set(path, text);
    if (!texts.has(path)) added += `\n${text}`;
  }
  const after = makeWorld({ files: newFiles, texts: newTexts, read, startsAtTop });
  // Translations of a page move with it.
  const gone = [...edits].flatMap(([path, text]) => (text === null ? [path] : []));
  const born = [...newTexts.keys()].filter((path) => !texts.has(path));
  const moved = new Map(
    gone.map((path) => [path, path === from ? to : (born.find((one) => twin(path, one, from, to)) ?? path)]),
  );
  const name = bare(from).split("/").at(-1)?.toLowerCase() ?? "";
  let followed = 0;
  const dead: string[] = [];
  for (const [path, text] of texts) {
    const now = moved.get(path) ?? path;
    const next = edits.get(now) ?? text;
    if (next === text && now === path && !text.toLowerCase().includes(name)) continue;
    const olds = linksOf(text);
    const news = next === text ? olds : linksOf(next);
    if (olds.length !== news.length) continue;
    for (const [n, { target }] of olds.entries()) {
      if (isOutside(target)) continue;
      const was = readings(world, path, target, true);
      const meant = [...was].filter(([how, set]) =>
        path === from ? how !== "top" || target.startsWith("/") : set.has(from),
      );
      if (meant.length === 0) continue;
      followed++;
      const link = news[n]?.target ?? "";
      const is = readings(after, now, link, true);
      const stays = meant.some(([how, set]) => {
        const goals = path === from ? [...set].map((one) => moved.get(one) ?? one) : [to];
        return goals.some((goal) => is.get(how)?.has(goal) === true);
      });
      const address = (link.split(/[?#]/)[0] ?? "").replace(/^\/|\/$/g, "");
      if (stays || (address !== "" && added.includes(address)) || told.has(path) || told.has(now)) continue;
      dead.push(`${now} ${target} => ${link} (${from} moved)`);
    }
  }
  return { followed, dead };
}

function twin(old: string, born: string, from: string, to: string): boolean {
  const [before, after] = [from, to].map((path) => path.split("/").at(-1) ?? "");
  const [name, other] = [old, born].map((path) => path.split("/").at(-1) ?? "");
  return name === before && other === after && folderOf(old).split("/")[0] === folderOf(born).split("/")[0];
}
