import type { CommitTree, OverlayEntry } from "../tree.ts";

/** How git reaches a repository, structurally equal to the forge's type. */
export interface Remote {
  /** Without credentials. */
  url: string;
  /** The Authorization header's value, or null. */
  authorization: string | null;
  /** The IP addresses that passed the SSRF guard. Git connects only to these. */
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

export interface PushInput {
  remote: Remote;
  branch: string;
  commit: string;
  expected: string | null;
  /** A push ends if there is no progress for this long: no bytes, and no words of the server. */
  silenceMsMax?: number;
}

export type PushOutcome =
  /** The branch has the commit now, from this push or an earlier one. */
  | { kind: "pushed" }
  /** The branch has somebody else's commit. */
  | { kind: "conflict"; found: string | null }
  | { kind: "rejected"; reason: string };

export type MovedBase =
  /** It did not move, or is gone. */
  | { kind: "unmoved" }
  /** The job's edits on the new base. */
  | { kind: "merged"; base: string; entries: readonly OverlayEntry[] }
  /** Both changed these files in different ways. */
  | { kind: "conflict"; base: string; paths: readonly string[] };

/** A branch as its pull request shows it. */
export interface ProposedHead {
  /** The current base branch, or the merge base if both conflict. */
  base: string;
  /** The result of merging on that base. No branch points at it. */
  head: string;
  /** The plain files that differ. */
  entries: readonly OverlayEntry[];
  /** The base branch's current commit, and the files that conflict. */
  moved: { tip: string; conflict: readonly string[] };
}

/** The bare clone of a project's repository on this node. */
export interface Mirror {
  /**
   * Fetches the base branch (null: the default branch), pins it for the job and returns it; `ref` is the branch's name.
   * Throws TreeFault("repository_unavailable") with a message; `retryable` if the problem may pass.
   */
  fetchBase(
    input: { remote: Remote; jobId: string; baseRef: string | null },
    signal: AbortSignal,
  ): Promise<{ commit: string; ref: string }>;
  /** Makes sure that a pinned base is present. Fetches it by id if needed. */
  ensureBase(input: { remote: Remote; jobId: string; commit: string }, signal: AbortSignal): Promise<void>;
  /**
   * Checks whether the base branch has moved, and merges its changes with the job's, file by file. Does not change the
   * job's own base.
   */
  mergeMovedBase(input: { remote: Remote; branch: string; ours: CommitInput }, signal: AbortSignal): Promise<MovedBase>;
  /** What a branch that diverged from its base branch at `fork` would add there. `head` is a commit of this mirror. */
  propose(
    input: { remote: Remote; jobId: string; fork: string; head: string; branch: string },
    signal: AbortSignal,
  ): Promise<ProposedHead>;
  /** The files that differ between a branch's commit `to` and an earlier one, which is fetched if needed. */
  changedSince(
    input: { remote: Remote; jobId: string; from: string; to: string },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  treeAt(commit: string): CommitTree;
  /** Builds the commit and pins it for the job. The same input gives the same ids. */
  commit(input: CommitInput, signal: AbortSignal): Promise<{ treeId: string; commitId: string }>;
  /** A text patch. Beyond `bytesMax`, whole files are left off its end. */
  diff(
    input: { from: string; to: string; bytesMax?: number },
    signal: AbortSignal,
  ): Promise<{ patch: Buffer; truncated: boolean }>;
  /**
   * `expected`: the commit that the branch must have now (null: it must not exist). Safe to retry. Throws
   * TreeFault("forge_unavailable", retryable) if it is unknown whether the push arrived.
   */
  push(input: PushInput, signal: AbortSignal): Promise<PushOutcome>;
  /** Whether one of these refs of the remote has the commit in its history. Refs that do not exist have nothing. */
  contains(input: { remote: Remote; refs: readonly string[]; commit: string }, signal: AbortSignal): Promise<boolean>;
  /** Removes a finished job's pins. */
  release(jobId: string): Promise<void>;
  /** Removes the pins of finished jobs, and packs loose objects. */
  tidy(jobIds: readonly string[], signal: AbortSignal): Promise<void>;
  /** The jobs with a pin here, for comparison with finished jobs. */
  pinnedJobs(): Promise<readonly string[]>;
}

export interface Mirrors {
  open(projectId: string): Promise<Mirror>;
  /** The projects that have a mirror on this node. */
  projects(): Promise<readonly string[]>;
  /**
   * Runs garbage collection and, above the size limit, evicts mirrors without pins, least recently used first. `unwanted`
   * are removed before: those of these projects, and those that were not used since then.
   */
  maintain(
    signal: AbortSignal,
    unwanted?: { projects: ReadonlySet<string>; usedBeforeMs: number },
  ): Promise<{ collected: number; removed: number; bytes: number }>;
  close(): Promise<void>;
}
