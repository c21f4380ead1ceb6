import type { OverlayEntry, Tree } from "./tree.ts";

/** How git reaches a repository: the forge's answer, structurally. */
export interface Remote {
  url: string;
  authorization: string | null;
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
  | { kind: "pushed" }
  /** The branch holds somebody else's commit. */
  | { kind: "conflict"; found: string | null }
  | { kind: "rejected"; reason: string };

/** The bare clone of a project's repository on this node. */
export interface Mirror {
  /** Fetches the base branch (null: the default one), pins it for the job and returns it. */
  fetchBase(
    input: { remote: Remote; jobId: string; baseRef: string | null },
    signal: AbortSignal,
  ): Promise<{ commit: string; ref: string }>;
  /** Makes sure that a pinned base is still here, fetching it by id if need be. */
  ensureBase(input: { remote: Remote; jobId: string; commit: string }, signal: AbortSignal): Promise<void>;
  treeAt(commit: string): Tree;
  /** Builds the commit and pins it for the job; the same input gives the same ids. */
  commit(input: CommitInput, signal: AbortSignal): Promise<{ treeId: string; commitId: string }>;
  diff(input: { from: string; to: string }, signal: AbortSignal): Promise<Buffer>;
  /** `expected`: the commit the branch must have now, null: it must not exist. */
  push(
    input: { remote: Remote; branch: string; commit: string; expected: string | null },
    signal: AbortSignal,
  ): Promise<PushOutcome>;
  /** Drops the pins of a job that is final. */
  release(jobId: string): Promise<void>;
}

export interface Mirrors {
  open(projectId: string): Promise<Mirror>;
  close(): Promise<void>;
}
