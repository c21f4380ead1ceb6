import { posix } from "node:path";
import { TreeFault } from "./faults.ts";
import { comparePaths, searchOverlay } from "./read/search.ts";
import type { CommitTree, FileMode, Overlay, OverlayEntry, TreeEntry } from "./tree.ts";
import { blobId, objectFormatOf } from "./tree.ts";

/** An edit with its blob id. Null: deleted. */
interface Edit {
  entry: OverlayEntry;
  oid: string | null;
}

const fileBytesMax = 16 * 2 ** 20;
const pointerBytesMax = 1_024;
const pointerStart = "version https://git-lfs.github.com/spec/";

/** Opens a job's edits on a tree, with those stored before. Edits that do not differ from the tree are dropped. */
export async function createOverlay(tree: CommitTree, stored: readonly OverlayEntry[] = []): Promise<Overlay> {
  const { list: baseList, entries: baseEntries, folderFiles } = await tree.index();
  const format = objectFormatOf(tree.commit);
  const edits = new Map<string, Edit>();
  const dirty = new Map<string, OverlayEntry>();
  /** How the edits change the number of files in each folder. */
  const folderChange = new Map<string, number>();
  let list: readonly TreeEntry[] | null = baseList;

  /** The mode of the file at a path now, or null. */
  function modeAt(path: string): FileMode | null {
    const edit = edits.get(path);
    if (edit) return edit.oid === null ? null : edit.entry.mode;
    return baseEntries.get(path)?.mode ?? null;
  }

  function put(entry: OverlayEntry): void {
    const { path, mode, content } = entry;
    const base = baseEntries.get(path);
    const before = modeAt(path) === null ? 0 : 1;
    const oid = content && blobId(content, format);
    const same = base ? base.oid === oid && base.mode === mode : oid === null;
    if (same) edits.delete(path);
    else edits.set(path, { entry, oid });
    const change = (content === null ? 0 : 1) - before;
    for (const folder of foldersOf(path)) folderChange.set(folder, (folderChange.get(folder) ?? 0) + change);
    list = null;
  }

  /** Throws if a path cannot be written. Returns the mode of the existing file. */
  function admit(path: string): FileMode | null {
    const why = whyNotPath(path);
    if (why !== null) throw refused(path, why);
    for (const folder of foldersOf(path)) {
      const mode = modeAt(folder);
      if (mode) throw refused(path, `${folder} is ${nameOf(mode)}, not a folder`);
    }
    if ((folderFiles.get(path) ?? 0) + (folderChange.get(path) ?? 0) > 0) throw refused(path, "it is a folder");
    const mode = modeAt(path);
    if (mode === null && !baseEntries.has(path)) {
      // For a new path, only its new segments are checked.
      const there = [...foldersOf(path)].filter((folder) => folderFiles.has(folder));
      const depth = Math.max(0, ...there.map((folder) => folder.split("/").length));
      const why = whyNotNewName(path.split("/").slice(depth).join("/"));
      if (why !== null) throw refused(path, why);
    }
    if (mode === "120000" || mode === "160000") throw refused(path, `it is ${nameOf(mode)}`);
    return mode;
  }

  async function refusePointer(path: string): Promise<void> {
    const base = baseEntries.get(path);
    if (edits.has(path) || !base || (base.size ?? 0) > pointerBytesMax) return;
    const content = await tree.read(path);
    if (content?.toString("latin1").startsWith(pointerStart)) {
      throw refused(path, "it is a Git LFS pointer");
    }
  }

  let links: Promise<ReadonlyMap<string, string>> | null = null;

  /** Symbolic links are never changed, so what they point to must stay: a builder stops at one that leads nowhere. */
  async function refuseLinked(path: string): Promise<void> {
    links ??= readLinks(tree, baseList);
    const found = await links;
    const isLast = (folder: string) => (folderFiles.get(folder) ?? 0) + (folderChange.get(folder) ?? 0) <= 1;
    for (const target of found.size === 0 ? [] : [path, ...[...foldersOf(path)].filter(isLast)]) {
      const link = found.get(target);
      if (link !== undefined)
        throw refused(path, `the symbolic link ${link} points to ${target}; remove the link first`);
    }
  }

  function edit(entry: OverlayEntry): void {
    put(entry);
    dirty.set(entry.path, entry);
  }

  for (const entry of stored) put(entry);

  return {
    commit: tree.commit,
    async list() {
      list ??= mergeLists(baseList, edits);
      return list;
    },
    async read(path) {
      const found = edits.get(path);
      return found ? found.entry.content : tree.read(path);
    },
    search: (query, signal) => searchOverlay(tree, sortedEntries(edits), query, signal),
    async set(path, content) {
      if (content.length > fileBytesMax) throw refused(path, `a file has at most ${fileBytesMax / 2 ** 20} MiB`);
      await refusePointer(path);
      // No await from here on: what was checked is what is written.
      const mode = admit(path) ?? baseEntries.get(path)?.mode ?? "100644";
      edit({ path, mode, content });
    },
    async delete(path) {
      await refusePointer(path);
      await refuseLinked(path);
      const mode = admit(path);
      if (mode === null) throw refused(path, "file not found");
      edit({ path, mode, content: null });
    },
    entries: () => sortedEntries(edits),
    diff: (signal) => tree.diff(sortedEntries(edits), signal),
    takeDirty() {
      const taken = [...dirty.values()].sort((left, right) => comparePaths(left.path, right.path));
      dirty.clear();
      return taken;
    },
  };
}

const linksMax = 1_000;
const linkBytesMax = 4_096;

/** The links of a tree by the path that each points to. */
async function readLinks(tree: CommitTree, list: readonly TreeEntry[]): Promise<ReadonlyMap<string, string>> {
  const links = list.filter(({ mode, size }) => mode === "120000" && (size ?? 0) <= linkBytesMax).slice(0, linksMax);
  const targets = new Map<string, string>();
  for (const link of links) {
    const target = await tree.readLink(link);
    // An absolute one leaves the repository.
    if (!target.startsWith("/"))
      targets.set(posix.join(posix.dirname(link.path), target).replace(/\/+$/, ""), link.path);
  }
  return targets;
}

function sortedEntries(edits: ReadonlyMap<string, Edit>): OverlayEntry[] {
  const entries = [...edits.values()].map(({ entry }) => entry);
  return entries.sort((left, right) => comparePaths(left.path, right.path));
}

function mergeLists(base: readonly TreeEntry[], edits: ReadonlyMap<string, Edit>): TreeEntry[] {
  const list = base.filter((entry) => !edits.has(entry.path));
  for (const { entry, oid } of edits.values()) {
    if (oid !== null) list.push({ path: entry.path, mode: entry.mode, oid, size: entry.content?.length ?? 0 });
  }
  return list.sort((left, right) => comparePaths(left.path, right.path));
}

function* foldersOf(path: string): Iterable<string> {
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) yield path.slice(0, slash);
}

function nameOf(mode: FileMode): string {
  if (mode === "120000") return "a symbolic link";
  return mode === "160000" ? "a submodule" : "a file";
}

function refused(path: string, why: string): TreeFault {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new TreeFault("invalid_request", { publicMessage: `${JSON.stringify(shown)} cannot be written: ${why}.` });
}

const segmentBytesMax = 255;
const pathBytesMax = 4_096;

/** Code points that HFS+ ignores in names: `.g\u200cit` is `.git` there. */
const hfsIgnored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Why a path cannot be written, judged by the path alone; or null. Git refuses such names only at checkout, and
 * somebody will check out on a file system that ignores case, drops dots or treats a backslash as a slash.
 */
export function whyNotPath(path: string): string | null {
  if (path === "") return "it is empty";
  if (!path.isWellFormed()) return "it is not valid Unicode";
  if (Buffer.byteLength(path) > pathBytesMax) return `it is longer than ${pathBytesMax} bytes`;
  if (path.includes("\0")) return "it contains a NUL character";
  if (path.includes("\\")) return "it contains a backslash; separate folders with /";
  if (path.startsWith("/")) return "it begins with /; paths are relative to the repository";
  if (path.endsWith("/")) return "it ends with /";
  for (const segment of path.split("/")) {
    const why = whyNotSegment(segment);
    if (why !== null) return why;
  }
  return null;
}

function whyNotSegment(segment: string): string | null {
  if (segment === "") return "it has an empty segment";
  if (segment === "." || segment === "..") return `it has a segment "${segment}"`;
  if (Buffer.byteLength(segment) > segmentBytesMax) return `a segment is longer than ${segmentBytesMax} bytes`;
  return isDotGit(segment) ? "it is inside git's own folder" : null;
}

/** Windows refuses these. COM and LPT end in a digit, also a superscript one. */
const windowsCharacters = /[<>:"|?*\p{Cc}]/u;
const windowsDevices = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])(?:\.|$)/i;

/**
 * Why a new file cannot have this name: a checkout on Windows would lose the file, or fail. Existing files can be
 * edited and deleted under any name.
 */
export function whyNotNewName(path: string): string | null {
  for (const segment of path.split("/")) {
    const found = windowsCharacters.exec(segment)?.[0];
    if (found !== undefined) return `Windows does not allow ${JSON.stringify(found)} in a name`;
    if (/[. ]$/.test(segment)) return "Windows does not allow a name that ends with a dot or a space";
    if (windowsDevices.test(segment)) return `"${segment}" is the name of a device on Windows`;
  }
  return null;
}

/** `.git`, as ext4, HFS+ or NTFS see it: short names, trailing dots and spaces, streams. */
function isDotGit(segment: string): boolean {
  const seen = segment.replace(hfsIgnored, "").toLowerCase();
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/s.test(seen);
}
