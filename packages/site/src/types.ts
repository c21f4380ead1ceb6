import type { FileChange } from "./git-history.ts";

/** One file of a tree, as its owner lists it. */
export interface SiteFile {
  path: string;
  /** Content id where the tree knows one, e.g. a git blob id: same hash, same bytes. */
  hash?: string;
  size?: number;
}

/** Any readable set of files: a git tree with an overlay, a folder, a map in a test. Paths use `/` and are relative. */
export interface SiteTree {
  list(): Promise<readonly SiteFile[]>;
  /** Null where file not found. */
  read(path: string): Promise<Uint8Array | null>;
  /** Where `read` gives the files of a folder on disk: that folder, so that threads can read them too. */
  folder?: string;
  /** When each file last changed, where the tree's repository can tell. Asked only by checks that need it. */
  history?(signal?: AbortSignal): Promise<ReadonlyMap<string, FileChange>>;
}

export type Severity = "error" | "warning" | "info";

/** A replacement in one file. Offsets are bytes, so that text which is not valid UTF-8 survives an edit. */
export interface TextEdit {
  path: string;
  start: number;
  end: number;
  text: string;
}

/** Offered only where it is certain: applying it needs no second look. */
export interface Fix {
  title: string;
  edits: readonly TextEdit[];
}

/**
 * certain: the site's builder would say the same. likely: it looks so, but the site may be served otherwise than it seems.
 * unknown: only the build can tell; such a finding counts against no change.
 */
export type Certainty = "certain" | "likely" | "unknown";

/** One thing a check found. Line and column begin at 1; the column counts UTF-16 units. */
export interface Finding {
  check: string;
  severity: Severity;
  path: string;
  line: number;
  column: number;
  message: string;
  /** Left out: certain. */
  certainty?: Exclude<Certainty, "certain">;
  /** Why it is not certain. */
  why?: string;
  /** Only of what is certain. */
  fix?: Fix;
}

/** How many links of a site lead inside it, and how many of those only its build can judge. */
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

/** Path → new bytes, or null where the file is deleted. */
export type Edits = ReadonlyMap<string, Uint8Array | null>;

export interface Skipped {
  path: string;
  line: number;
  reason: string;
}

/** What a refactoring would do. It never throws on odd input: it refuses and says why. */
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
  /** Of the new state. */
  tally: LinkTally;
}
