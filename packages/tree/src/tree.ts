import { hash } from "node:crypto";
import { isFault } from "@emend/base/fault.ts";
import type { SiteTree } from "@emend/site";
import { TreeFault } from "./faults.ts";

/** git's file modes: plain, executable, symbolic link, submodule. */
export type FileMode = "100644" | "100755" | "120000" | "160000";

export interface TreeEntry {
  path: string;
  mode: FileMode;
  /** The blob's id. Equal ids mean equal bytes. */
  oid: string;
  /** Bytes; null for a submodule. */
  size: number | null;
}

export interface SearchMatch {
  path: string;
  line: number;
  /** The first match's position in the line, in bytes from 0. */
  column: number;
  /** Without its line ending; truncated if it is very long. */
  text: string;
}

export interface SearchQuery {
  pattern: string;
  /** Literal text, or an extended regular expression in git grep's dialect. */
  kind: "literal" | "regex";
  ignoreCase?: boolean;
  /** A folder or file to search in. */
  under?: string;
  /** A filter for paths. Absent: all. */
  accepts?(path: string): boolean;
  matchesMax: number;
}

/** A repository at one commit, readable by path. Never a folder on disk. */
export interface Tree {
  readonly commit: string;
  /** By path. Paths that are not valid UTF-8 are left out; commits keep them. */
  list(): Promise<readonly TreeEntry[]>;
  /**
   * Null if the file does not exist, or is a symbolic link or submodule. Throws TreeFault("invalid_request") for a file
   * above the size limit.
   */
  read(path: string): Promise<Buffer | null>;
  search(query: SearchQuery, signal?: AbortSignal): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>;
}

/** A tree in git, with what an overlay needs. */
export interface CommitTree extends Tree {
  index(): Promise<TreeIndex>;
  /** What a symbolic link contains. */
  readLink(entry: TreeEntry): Promise<string>;
  /** Writes these blobs into a new file, as `git cat-file --batch` prints them. Returns its path. */
  copyOut(ids: readonly string[], signal?: AbortSignal): Promise<string>;
  /** `except`: paths to leave out. */
  search(
    query: SearchQuery,
    signal?: AbortSignal,
    options?: { except?: ReadonlySet<string> },
  ): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>;
  /** `search` over bytes that are in no commit. */
  searchContents(
    contents: readonly Buffer[],
    query: SearchQuery,
    signal?: AbortSignal,
  ): Promise<{ matches: readonly ContentMatch[]; truncated: boolean }>;
  /** The patch of some edits. */
  diff(entries: readonly OverlayEntry[], signal?: AbortSignal): Promise<Buffer>;
}

export interface TreeIndex {
  readonly list: readonly TreeEntry[];
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** The number of files in each folder, at any depth, including unreadable names. */
  readonly folderFiles: ReadonlyMap<string, number>;
}

export interface ContentMatch {
  /** Index into the searched contents. */
  index: number;
  line: number;
  column: number;
  text: string;
}

/** One file of an overlay: new bytes, or deleted. */
export interface OverlayEntry {
  path: string;
  mode: FileMode;
  /** Null where the file is deleted. */
  content: Buffer | null;
}

/** A job's edits on a tree. Reads see the edits; the tree itself never changes. */
export interface Overlay extends Tree {
  /** Writes a file, or throws TreeFault("invalid_request") with the reason. All path checks are here. */
  set(path: string, content: Buffer): Promise<void>;
  /** Refuses like `set`, and if the file does not exist. */
  delete(path: string): Promise<void>;
  /** Every edit that differs from the tree, by path. */
  entries(): readonly OverlayEntry[];
  /** The edits as a patch, with renames detected. */
  diff(signal?: AbortSignal): Promise<Buffer>;
  /**
   * The edits since the last call, to store with a step. A file that is again as in the tree is among them: the step
   * replaces the stored edit.
   */
  takeDirty(): readonly OverlayEntry[];
}

/** A git tree for the site package: plain files only, no links or submodules. */
export function siteTreeOf(tree: Tree & Partial<Pick<CommitTree, "copyOut">>, history?: SiteTree["history"]): SiteTree {
  return {
    ...(history && { history }),
    ...(tree.copyOut && { copyOut: tree.copyOut }),
    async list() {
      const entries = await tree.list();
      return entries
        .filter((entry) => entry.mode === "100644" || entry.mode === "100755")
        .map((entry) => ({ path: entry.path, hash: entry.oid, ...(entry.size === null ? {} : { size: entry.size }) }));
    },
    read: (path) => readOrSkip(tree, path),
  };
}

/** As `read`, and null for a file above the size limit. */
export async function readOrSkip(tree: Tree, path: string): Promise<Buffer | null> {
  try {
    return await tree.read(path);
  } catch (error) {
    if (isFault(error, "invalid_request")) return null;
    throw error;
  }
}

export type ObjectFormat = "sha1" | "sha256";

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Ids go into command lines, so anything else is refused. */
export function checkObjectIds(...ids: readonly string[]): void {
  if (ids.every(isObjectId)) return;
  throw new TreeFault("internal", { publicMessage: "A commit id is not a valid object id." });
}

export function objectFormatOf(id: string): ObjectFormat {
  return id.length === 64 ? "sha256" : "sha1";
}

/** Git's id for these bytes. */
export function blobId(content: Buffer, format: ObjectFormat): string {
  return hash(format, Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]), "hex");
}
