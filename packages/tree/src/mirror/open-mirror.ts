import { utimes } from "node:fs/promises";
import { isBranchName } from "@emend/base/branch-name.ts";
import { isFault } from "@emend/base/fault.ts";
import type { Logger } from "@emend/base/logger.ts";
import { TreeFault } from "../faults.ts";
import { type Git, type GitResult, gitError, gitWords, httpStatusOf, isUntrusted, saysLater } from "../git/git.ts";
import { type BlobCache, createBlobReader } from "../read/blob-reader.ts";
import { openCommitTree } from "../read/commit-tree.ts";
import { diffCommits } from "../read/diff.ts";
import { type IndexCache, listTree } from "../read/list-tree.ts";
import type { TreeIndex } from "../tree.ts";
import { checkObjectIds } from "../tree.ts";
import { remoteContains } from "./ancestry.ts";
import { buildCommit } from "./build-commit.ts";
import { ensureBase, fetchBase } from "./fetch-base.ts";
import { pinnedJobs, releasePins, tidyMirror } from "./maintain-mirror.ts";
import { changedPaths, mergeMovedBase, proposeHead } from "./merge-base.ts";
import type { Mirror, PushInput, PushOutcome, Remote } from "./mirror.ts";
import type { MirrorContext, MirrorLimits, MirrorPlace } from "./mirror-context.ts";
import { basePin, leftPin } from "./mirror-context.ts";
import { resolveBranch, unreachable } from "./resolve-base.ts";

export interface OpenMirror {
  mirror: Mirror;
  context: MirrorContext;
  close(): Promise<void>;
}

/** Ties the functions on one mirror together. */
export function openMirror(deps: {
  git: Git;
  place: MirrorPlace;
  log: Logger;
  limits: MirrorLimits;
  cache: BlobCache;
  indexes: IndexCache;
  closing: AbortSignal;
}): OpenMirror {
  const { git, place, limits, cache, indexes, closing } = deps;
  const reader = createBlobReader(git, place.gitDir);
  const context: MirrorContext = {
    git,
    place,
    log: deps.log,
    limits,
    health: { suspect: false },
    readObject: (id) => reader.read(id),
    forgetReader: () => void reader.close(),
  };
  const fetches = createSharedWork<{ commit: string; ref: string }>();
  const until = (signal: AbortSignal) => AbortSignal.any([signal, closing]);
  let lastIndex: WeakRef<TreeIndex> | undefined;
  async function loadIndex(commit: string): Promise<TreeIndex> {
    try {
      const input = { gitDir: place.gitDir, commit, filesMax: limits.filesMax, known: lastIndex?.deref() };
      const index = await listTree(git, input, closing);
      lastIndex = new WeakRef(index);
      return index;
    } catch (error) {
      context.health.suspect ||= isFault(error) && error.retryable;
      throw error;
    }
  }
  const indexOf = (commit: string) => indexes.get(`${place.gitDir} ${commit}`, () => loadIndex(commit));

  const mirror: Mirror = {
    async fetchBase({ remote, jobId, baseRef }, signal) {
      const key = JSON.stringify([remote.url, remote.authorization, baseRef]);
      const fetch = (jobIds: readonly string[], shared: AbortSignal) =>
        fetchBase(context, { remote, baseRef, pins: jobIds.map(basePin) }, until(shared));
      const base = await fetches.join(key, jobId, fetch, until(signal));
      // The lock's modification time is the mirror's last use, for eviction.
      await utimes(place.storeLock, new Date(), new Date()).catch(() => {});
      return base;
    },
    mergeMovedBase: (input, signal) => mergeMovedBase({ context, reader }, input, until(signal)),
    ensureBase: ({ remote, jobId, commit }, signal) =>
      ensureBase(context, { remote, commit, pin: basePin(jobId) }, until(signal)),
    propose: (input, signal) => proposeHead({ context, reader }, input, until(signal)),
    async changedSince({ remote, jobId, from, to }, signal) {
      await ensureBase(context, { remote, commit: from, pin: leftPin(jobId) }, until(signal));
      return changedPaths(context, from, to, until(signal));
    },
    treeAt: (commit) => openCommitTree({ context, reader, cache, indexOf, closing }, commit),
    commit: (input, signal) => buildCommit(context, input, until(signal)),
    diff: (input, signal) => diffCommits(context, input, until(signal)),
    push: (input, signal) => pushBranch(context, input, until(signal)),
    contains: (input, signal) => remoteContains(git, input, until(signal)),
    release: (jobId) => releasePins(context, jobId, closing),
    tidy: (jobIds, signal) => tidyMirror(context, jobIds, until(signal)),
    pinnedJobs: () => pinnedJobs(context),
  };
  return { mirror, context, close: () => reader.close() };
}

/** A push takes as long as it makes progress. */
const timeMsMax = 3_600_000;
const silenceUsualMs = 5 * 60_000;

/** Sets a branch to a commit if it is at the expected one (compare-and-swap). */
async function pushBranch(context: MirrorContext, input: PushInput, signal: AbortSignal): Promise<PushOutcome> {
  const { remote, branch, commit, expected, silenceMsMax = silenceUsualMs } = input;
  checkObjectIds(commit, ...(expected === null ? [] : [expected]));
  if (!isBranchName(branch)) {
    throw new TreeFault("internal", { publicMessage: `"${branch}" is not a valid branch name.` });
  }
  const ref = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${ref}:${expected ?? ""}`;
  const args = ["push", "--porcelain", "--progress", "--no-verify", "--recurse-submodules=no", lease];
  const result = await context.git.run(
    {
      gitDir: context.place.gitDir,
      args: [...args, "--", remote.url, `${commit}:${ref}`],
      remote,
      // If the base has moved on, it is not among the server's tips. Without negotiation, the whole tree would be sent
      // again.
      config: { "push.negotiate": "true" },
      timeMsMax,
      silenceMsMax,
      outputBytesMax: 64 * 1024,
    },
    signal,
  );
  const line = answerFor(ref, result);
  if (result.code === 0 && line && line.flag !== "!") return { kind: "pushed" };
  if (!line) return unanswered(context.git, remote, result, signal);

  // A refusal may be the second response to the same push, or caused by somebody else's commit. The branch's tip tells.
  const found = await resolveBranch(context.git, { remote, branch }, signal);
  if (found === commit) return { kind: "pushed" };
  if (found !== expected) return { kind: "conflict", found };
  // Another push of the same commit may hold the lock; a server under maintenance says when it is over.
  if (saysLater(`${line.summary}\n${result.stderr}`)) {
    const what = "The forge does not accept pushes now.";
    throw gitError("forge_unavailable", { what, words: remoteWords(result) || line.summary, retryable: true });
  }
  return { kind: "rejected", reason: [line.summary, remoteWords(result)].filter(Boolean).join("; ") };
}

/** `<flag>\t<from>:<to>\t<summary>`. Null if the push did not get that far. */
function answerFor(ref: string, result: GitResult): { flag: string; summary: string } | null {
  for (const line of result.stdout.toString("utf8").split("\n")) {
    const [flag = "", refs = "", summary = ""] = line.split("\t");
    if (refs.endsWith(`:${ref}`)) return { flag, summary: gitWords(summary, []) };
  }
  return null;
}

/** The forge's own message. */
function remoteWords(result: GitResult): string {
  const lines = result.stderr.split("\n").filter((line) => line.startsWith("remote:"));
  return gitWords(lines.map((line) => line.slice(7)).join("\n"), []);
}

async function unanswered(git: Git, remote: Remote, result: GitResult, signal: AbortSignal): Promise<PushOutcome> {
  const status = httpStatusOf(result.stderr);
  if (isUntrusted(result.stderr)) throw unreachable(result);
  const { words } = result;
  if (status === 429) {
    const publicMessage = `The forge limits how often its repositories are used. (git: ${words})`;
    const retryAfterMs = await git.askRetryAfter(remote, signal);
    throw new TreeFault("forge_unavailable", { publicMessage, retryable: true, retryAfterMs, isRateLimit: true });
  }
  if (saysLater(result.stderr)) {
    throw gitError("forge_unavailable", { what: "The forge does not accept pushes now.", words, retryable: true });
  }
  if (status === 401) {
    return {
      kind: "rejected",
      reason: `the forge does not accept the credential: it may be revoked or expired (${result.words})`,
    };
  }
  if (status === 403) {
    return { kind: "rejected", reason: `the credential may not push to the repository (${result.words})` };
  }
  if (status !== null && status < 500 && status !== 408 && status !== 429) throw unreachable(result);
  const what = "The repository did not say whether it took the branch.";
  throw gitError("forge_unavailable", { what, words: result.words, retryable: true });
}

/**
 * Lets callers with the same request share one execution, if that is correct: only work that has not started yet sees
 * everything that happened before the request. So one runs, and later callers join the next one.
 */
interface SharedWork<T> {
  join(
    key: string,
    member: string,
    work: (members: readonly string[], signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T>;
}

interface Batch<T> {
  members: string[];
  /** The number of waiting callers. At zero the work is aborted. */
  waiting: number;
  controller: AbortController;
  result: Promise<T>;
}

export function createSharedWork<T>(): SharedWork<T> {
  const running = new Map<string, Promise<unknown>>();
  const gathering = new Map<string, Batch<T>>();

  function gather(key: string, work: (members: readonly string[], signal: AbortSignal) => Promise<T>): Batch<T> {
    const batch: Batch<T> = {
      members: [],
      waiting: 0,
      controller: new AbortController(),
      result: Promise.resolve(running.get(key)).then(() => {
        if (gathering.get(key) === batch) gathering.delete(key);
        const result = work(batch.members, batch.controller.signal);
        const settled = result.then(noop, noop).then(() => {
          if (running.get(key) === settled) running.delete(key);
        });
        running.set(key, settled);
        return result;
      }),
    };
    // All callers may have left before a failure.
    batch.result.catch(noop);
    gathering.set(key, batch);
    return batch;
  }

  return {
    async join(key, member, work, signal) {
      signal.throwIfAborted();
      const batch = gathering.get(key) ?? gather(key, work);
      batch.members.push(member);
      batch.waiting += 1;
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => {
        batch.waiting -= 1;
        if (batch.waiting === 0) {
          batch.controller.abort(signal.reason);
          // New callers must not join aborted work.
          if (gathering.get(key) === batch) gathering.delete(key);
        }
        aborted.reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await Promise.race([batch.result, aborted.promise]);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

function noop(): void {}
