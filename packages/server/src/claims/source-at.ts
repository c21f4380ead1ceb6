import type { Claim } from "@emend/contract";
import type { CommitTree, Mirrors, PageHistory, RecentStart, Remote } from "@emend/tree";
import type { SourceCommit } from "./find-claims-again.ts";

export interface SourceDeps {
  mirrors: Mirrors;
  pageHistory: PageHistory;
  /** Absent: a new source is compared from its newest commit on. */
  recentStart?: RecentStart;
}

/** A new source is compared with its state before this, once. */
const backfill = { days: 30, commitsMax: 200 };

/** A repository to read: the project's own, or a context repository. */
export interface SourceName {
  /** The mirror's key. */
  id: string;
  /** Null: the project's own repository. */
  name: string | null;
  /** Null: the repository's default branch. */
  baseRef: string | null;
}

export interface SourceAt extends SourceCommit {
  /** For the first comparison: the oldest commit of the last days. Null if unknown. */
  recentStart(): Promise<string | null>;
  /** An earlier commit. It is fetched if this node does not have it. */
  earlier(commit: string): Promise<CommitTree>;
  /** The change since a commit that `earlier` gave, as a patch. */
  patchSince(commit: string): Promise<string>;
}

/** Opens a repository at the newest commit of its branch. `purpose` keeps the pins of different tasks apart. */
export async function withSource(
  deps: SourceDeps,
  source: SourceName & { remote(): Promise<Remote> },
  purpose: string,
  signal: AbortSignal,
  use: (at: SourceAt) => Promise<void>,
): Promise<void> {
  const mirror = await deps.mirrors.open(source.id);
  const remote = await source.remote();
  // Pinned as for a job, so that garbage collection keeps the commits while they are read.
  const jobId = `${purpose}_${source.id}`;
  const earlierId = `${jobId}_earlier`;
  const causes = new Map<string, Promise<Claim["cause"]>>();
  try {
    const { commit, ref } = await mirror.fetchBase({ remote, jobId, baseRef: source.baseRef }, signal);
    await use({
      repositoryId: null,
      commit,
      tree: mirror.treeAt(commit),
      recentStart: async () => (await deps.recentStart?.({ remote, branch: ref, ...backfill }, signal)) ?? null,
      async earlier(before) {
        await mirror.ensureBase({ remote, jobId: earlierId, commit: before }, signal);
        return mirror.treeAt(before);
      },
      async patchSince(before) {
        return (await mirror.diff({ from: before, to: commit, bytesMax: patchBytesMax }, signal)).patch.toString();
      },
      causeOf(path) {
        const known = causes.get(path);
        if (known) return known;
        if (causes.size >= causesMax) return Promise.resolve(null);
        const asked = readCause(deps.pageHistory, { remote, branch: ref, path }, signal);
        causes.set(path, asked);
        return asked;
      },
    });
  } finally {
    await mirror.release(jobId);
    await mirror.release(earlierId);
  }
}

const patchBytesMax = 2 * 2 ** 20;
/** A limit, because each lookup may be a fetch. */
const causesMax = 20;
/** Other numbers in a message are those of issues, or of the pull request that this one reverts. */
const pullRequestForms = {
  subject: /\((?:pull request )?#(\d{1,9})\)$|^Merge pull request #(\d{1,9}) /,
  message: /See merge request \S*!(\d{1,9})/,
};

/** The newest commit that touched the file. */
async function readCause(
  pageHistory: PageHistory,
  input: { remote: Remote; branch: string; path: string },
  signal: AbortSignal,
): Promise<Claim["cause"]> {
  const commits = await pageHistory(input, signal).catch(() => {
    signal.throwIfAborted();
    return [];
  });
  const [newest] = commits;
  if (!newest) return null;
  const { id, author, date, message } = newest;
  return { commit: id, author, date, message, pullRequest: pullRequestOf(newest) };
}

/** The number that forges write into the commit message of a merged pull request. */
export function pullRequestOf({ subject, message }: { subject: string; message: string }): number | null {
  const [, squashed, merged] = pullRequestForms.subject.exec(subject) ?? [];
  const number = squashed ?? merged ?? pullRequestForms.message.exec(message)?.[1];
  return number === undefined ? null : Number(number);
}
