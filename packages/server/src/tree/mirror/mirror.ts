import type { CommitTree, OverlayEntry } from "../tree.ts";

/** How git reaches a repository: the forge's answer, structurally. */
export interface Remote {
  /** Without credentials. */
  url: string;
  /** The value of the Authorization header; null: none. */
  authorization: string | null;
  /** The addresses that its host has, where they were judged: git connects to these and asks for no others. */
  addresses?: readonly string[];
}

export interface CommitInput {
  jobId: string;
  base: string;
  entries: readonly OverlayEntry[];
  message: string;
  author: { name: string; email: string };
  /** Author and committer date: the job's, so that the same tree gives the same commit. */
  date: Date;
}

export type PushOutcome =
  /** The branch has the commit now, from this push or from an earlier one. */
  | { kind: "pushed" }
  /** The branch holds somebody else's commit. */
  | { kind: "conflict"; found: string | null }
  | { kind: "rejected"; reason: string };

export type MovedBase =
  /** It is where it was, or gone. */
  | { kind: "unmoved" }
  /** The job's edits as they are on the new base. */
  | { kind: "merged"; base: string; entries: readonly OverlayEntry[] }
  /** Both changed these files, each in its own way. */
  | { kind: "conflict"; base: string; paths: readonly string[] };

/** A branch as its pull request shows it. */
export interface ProposedHead {
  /** The base branch as it is, or where both parted if they went another way. */
  base: string;
  /** What merging would give on that base. No branch points at it. */
  head: string;
  /** The plain files in which they differ. */
  entries: readonly OverlayEntry[];
  /** Where the base branch is by now, and the files that keep both from going together. */
  moved: { tip: string; conflict: readonly string[] };
}

export interface DiffStat {
  files: number;
  insertions: number;
  deletions: number;
}

/** The bare clone of a project's repository on this node. */
export interface Mirror {
  /**
   * Fetches the base branch (null: the default one), pins it for the job and returns it; `ref` is the branch's name.
   * AppError("repository_unavailable") says what to do; `retryable` where it may pass by itself.
   */
  fetchBase(
    input: { remote: Remote; jobId: string; baseRef: string | null },
    signal: AbortSignal,
  ): Promise<{ commit: string; ref: string }>;
  /** Makes sure that a pinned base is still here, fetching it by id if need be. */
  ensureBase(input: { remote: Remote; jobId: string; commit: string }, signal: AbortSignal): Promise<void>;
  /**
   * Looks whether the branch that a job's base was read from has moved on, and merges file by file what happened there
   * with what the job did; changes nothing that the job stands on.
   */
  takeInBase(input: { remote: Remote; branch: string; ours: CommitInput }, signal: AbortSignal): Promise<MovedBase>;
  /** What a branch that has parted from its base branch at `fork` would bring there; `head` is a commit of this mirror. */
  propose(
    input: { remote: Remote; jobId: string; fork: string; head: string; branch: string },
    signal: AbortSignal,
  ): Promise<ProposedHead>;
  /** The files in which a branch's commit `to` differs from an earlier one, which is fetched if need be. */
  changedSince(
    input: { remote: Remote; jobId: string; from: string; to: string },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  treeAt(commit: string): CommitTree;
  /** Builds the commit and pins it for the job; the same input gives the same ids. */
  commit(input: CommitInput, signal: AbortSignal): Promise<{ treeId: string; commitId: string }>;
  /** A patch of text; past `bytesMax` whole files are left off its end. */
  diff(
    input: { from: string; to: string; bytesMax?: number },
    signal: AbortSignal,
  ): Promise<{ patch: Buffer; truncated: boolean }>;
  diffStat(input: { from: string; to: string }, signal: AbortSignal): Promise<DiffStat>;
  /**
   * `expected`: the commit the branch must have now, null: it must not exist. Safe to repeat. Throws
   * AppError("forge_unavailable", retryable) where it is not known whether the push arrived.
   */
  push(
    input: { remote: Remote; branch: string; commit: string; expected: string | null },
    signal: AbortSignal,
  ): Promise<PushOutcome>;
  /** Drops the pins of a job that is final. */
  release(jobId: string): Promise<void>;
  /** Drops the pins of jobs that are final, and packs what jobs have left in single files. */
  tidy(jobIds: readonly string[], signal: AbortSignal): Promise<void>;
  /** The jobs that have a pin here, for a sweep to compare with those that are final. */
  pinnedJobs(): Promise<readonly string[]>;
}

export interface Mirrors {
  open(projectId: string): Promise<Mirror>;
  /** The projects that have a mirror on this node. */
  projects(): Promise<readonly string[]>;
  /** Collects garbage and, over the size limit, removes mirrors that hold no pin, least recently used first. */
  maintain(signal: AbortSignal): Promise<{ collected: number; removed: number; bytes: number }>;
  close(): Promise<void>;
}
