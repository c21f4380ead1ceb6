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
  text: string;
}

export interface SearchQuery {
  pattern: string;
  /** Literal text, or an extended regular expression in git grep's dialect. */
  kind: "literal" | "regex";
  ignoreCase?: boolean;
  /** Path prefix to stay below. */
  under?: string;
  matchesMax: number;
}

/** A repository at one commit, readable by path. Never a folder on disk. */
export interface Tree {
  readonly commit: string;
  list(): Promise<readonly TreeEntry[]>;
  /** Null where there is no such file. Symbolic links and submodules are not followed: null too. */
  read(path: string): Promise<Buffer | null>;
  search(query: SearchQuery, signal?: AbortSignal): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }>;
}

/** One file of an overlay: new bytes, or deleted. */
export interface OverlayEntry {
  path: string;
  mode: FileMode;
  /** Null where the file is deleted. */
  content: Buffer | null;
}

/** A job's edits on a tree. Reads see the edits; the tree below never changes. */
export interface Overlay extends Tree {
  /** Admits a write or throws AppError("invalid_request") saying why: the one gate for paths. */
  set(path: string, content: Buffer): Promise<void>;
  delete(path: string): Promise<void>;
  /** Every edit so far that differs from the tree, by path. */
  entries(): readonly OverlayEntry[];
  /** The edits since the last call, to store with a step. */
  takeDirty(): readonly OverlayEntry[];
}
