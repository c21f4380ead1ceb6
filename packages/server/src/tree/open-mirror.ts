import { utimes } from "node:fs/promises";
import { isAppError } from "../errors.ts";
import type { Logger } from "../lib/logger.ts";
import type { BlobCache } from "./blob-cache.ts";
import { createBlobReader } from "./blob-reader.ts";
import { buildCommit } from "./build-commit.ts";
import { openCommitTree } from "./commit-tree.ts";
import { diffCommits, diffStat } from "./diff.ts";
import { ensureBase } from "./ensure-base.ts";
import { fetchBase } from "./fetch-base.ts";
import type { Git } from "./git.ts";
import type { IndexCache } from "./index-cache.ts";
import { listTree } from "./list-tree.ts";
import { changedPaths } from "./merge-trees.ts";
import type { Mirror } from "./mirror.ts";
import type { MirrorContext, MirrorLimits } from "./mirror-context.ts";
import type { MirrorPlace } from "./mirror-place.ts";
import { basePin, leftPin } from "./pin-names.ts";
import { proposeHead } from "./propose-head.ts";
import { pushBranch } from "./push-branch.ts";
import { pinnedJobs, releasePins } from "./release-pins.ts";
import { createSharedWork } from "./share-work.ts";
import { takeInBase } from "./take-in-base.ts";
import type { TreeIndex } from "./tree.ts";

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
      context.health.suspect ||= isAppError(error) && error.retryable;
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
      // The lock's date is the mirror's last use, which eviction goes by.
      await utimes(place.storeLock, new Date(), new Date()).catch(() => {});
      return base;
    },
    takeInBase: (input, signal) => takeInBase({ context, reader }, input, until(signal)),
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
    diffStat: (input, signal) => diffStat(context, input, until(signal)),
    push: (input, signal) => pushBranch(context, input, until(signal)),
    release: (jobId) => releasePins(context, jobId, closing),
    pinnedJobs: () => pinnedJobs(context),
  };
  return { mirror, context, close: () => reader.close() };
}
