import type { FileChange } from "./git-history.ts";

/** One file in a tree's listing. */
export interface SiteFile {
  path: string;
  /** The content hash if the tree knows it, such as a git blob id. Same hash, same bytes. */
  hash?: string;
  size?: number;
}

/** Any readable set of files: a git tree with an overlay, a folder, a map in a test. Paths use `/` and are relative. */
export interface SiteTree {
  list(): Promise<readonly SiteFile[]>;
  /** Null if the file does not exist. */
  read(path: string): Promise<Uint8Array | null>;
  /**
   * Writes the contents with these hashes into a new file, as `git cat-file --batch` prints them, and returns its path.
   * Threads read it: that is far faster than one file at a time.
   */
  copyOut?(hashes: readonly string[], signal?: AbortSignal): Promise<string>;
  /** The folder, if `read` reads from a folder on disk, so that threads can read it too. */
  folder?: string;
  /** The repository around the tree, if the tree may be only a folder of it. Called only by checks that need it. */
  repository?(): SurroundingRepository;
  /** The last change of each file, if the tree has a history. Called only by checks that need it. */
  history?(signal?: AbortSignal): Promise<ReadonlyMap<string, FileChange>>;
}

export interface SurroundingRepository {
  /** The path of the tree's folder in the repository; "" at the top. */
  dir: string;
  /** Whether the repository has this file or folder. */
  has(path: string): boolean;
}

export type Severity = "error" | "warning" | "info";

/** A replacement in one file. Offsets are bytes, so that text that is not valid UTF-8 survives an edit. */
export interface TextEdit {
  path: string;
  start: number;
  end: number;
  text: string;
}

/** Offered only if it is certain, so that it can be applied without review. */
export interface Fix {
  title: string;
  edits: readonly TextEdit[];
}

/**
 * certain: the site's builder would report the same. likely: probable, but the site may be served differently. unknown:
 * only the build can decide; such a finding never fails a change.
 */
export type Certainty = "certain" | "likely" | "unknown";

/** One finding of a check. Line and column start at 1; the column counts UTF-16 units. */
export interface Finding {
  check: string;
  severity: Severity;
  path: string;
  line: number;
  column: number;
  message: string;
  /** Default: certain. */
  certainty?: Exclude<Certainty, "certain">;
  /** Why it is not certain. */
  why?: string;
  /** Only for certain findings. */
  fix?: Fix;
}

/** The number of a site's internal links, and of those that only its build can judge. */
export interface LinkTally {
  links: number;
  unjudged: number;
  /** Reason → links. */
  reasons: Readonly<Record<string, number>>;
}

export interface Page {
  path: string;
  route: string;
  title: string | null;
}

/** Path → new bytes. Null if the file is deleted. */
export type Edits = ReadonlyMap<string, Uint8Array | null>;

export interface Skipped {
  path: string;
  line: number;
  reason: string;
}

/** The result of a refactoring. It never throws on invalid input: it refuses with a reason. */
export type Refactoring =
  | { kind: "done"; edits: Edits; counts: Record<string, number>; skipped: readonly Skipped[] }
  | { kind: "refused"; reason: string };

export type PageSearch =
  | { kind: "found"; page: Page }
  | { kind: "ambiguous"; pages: readonly Page[] }
  | { kind: "none"; nearest: readonly Page[] };

export interface Comparison {
  introduced: readonly Finding[];
  fixed: readonly Finding[];
  before: number;
  after: number;
  /** Counts of the new state. */
  tally: LinkTally;
}

/** Findings that somebody silences by a pattern, as it is written. */
export interface IgnoreEntry {
  check: string;
  path?: string;
  message?: string;
  reason: string;
}
