/** git's file modes: plain, executable, symbolic link, submodule. */
export type FileMode = "100644" | "100755" | "120000" | "160000";

export interface TreeEntry {
  path: string;
  mode: FileMode;
  /** The blob's id: equal ids, equal bytes. */
  oid: string;
  /** Bytes; null for a submodule. */
  size: number | null;
}

export interface SearchMatch {
  path: string;
  line: number;
  /** Where in the line the first match begins, in bytes from 0. */
  column: number;
  /** Without its line ending; cut where it is very long. */
  text: string;
}

export interface SearchQuery {
  pattern: string;
  /** Literal text, or an extended regular expression in git grep's dialect. */
  kind: "literal" | "regex";
  ignoreCase?: boolean;
  /** A folder (or one file) to stay below. */
  under?: string;
  /** Which files count; absent: all. */
  accepts?(path: string): boolean;
  matchesMax: number;
}

/** A repository at one commit, readable by path. Never a folder on disk. */
export interface Tree {
  readonly commit: string;
  /** By path. Paths that are not valid UTF-8 are left out; commits keep them. */
  list(): Promise<readonly TreeEntry[]>;
  /**
   * Null where file not found. Symbolic links and submodules are not followed: null too. A file over the
   * size limit is refused: AppError("invalid_request").
   */
  read(path: string): Promise<Buffer | null>;
  search(query: SearchQuery, signal?: AbortSignal): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>;
}

/** A tree that git holds, with what an overlay needs of it. */
export interface CommitTree extends Tree {
  index(): Promise<TreeIndex>;
  /** `except`: paths whose matches do not count. */
  search(
    query: SearchQuery,
    signal?: AbortSignal,
    options?: { except?: ReadonlySet<string> },
  ): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>;
  /** `search` over bytes that are in no commit, in the same dialect. */
  searchContents(
    contents: readonly Buffer[],
    query: SearchQuery,
    signal?: AbortSignal,
  ): Promise<{ matches: readonly ContentMatch[]; truncated: boolean }>;
  /** A patch of what edits would change. */
  diff(entries: readonly OverlayEntry[], signal?: AbortSignal): Promise<Buffer>;
}

export interface TreeIndex {
  readonly list: readonly TreeEntry[];
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** How many files each folder holds, at any depth, those with unreadable names too. */
  readonly folderFiles: ReadonlyMap<string, number>;
}

export interface ContentMatch {
  /** Position in the searched contents. */
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

/** An edit to store with a step. */
export interface OverlayEdit extends OverlayEntry {
  /**
   * True where the file is again as the tree has it: `content` is then the tree's own (null: no such file), and a
   * row stored for the path can go. Storing it all the same does no harm: loading drops what does not differ.
   */
  reverted: boolean;
}

/** A job's edits on a tree. Reads see the edits; the tree below never changes. */
export interface Overlay extends Tree {
  /** Admits a write or throws AppError("invalid_request") saying why: the one gate for paths. */
  set(path: string, content: Buffer): Promise<void>;
  /** Refuses like `set`, and where file not found. */
  delete(path: string): Promise<void>;
  /** Every edit so far that differs from the tree, by path. */
  entries(): readonly OverlayEntry[];
  /** The edits so far as a patch, with renames found. */
  diff(signal?: AbortSignal): Promise<Buffer>;
  /** The edits since the last call, to store with a step. */
  takeDirty(): readonly OverlayEdit[];
}
