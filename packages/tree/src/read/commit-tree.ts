import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isFault } from "@emend/base/fault.ts";
import { TreeFault } from "../faults.ts";
import { buildUnpinned } from "../mirror/build-commit.ts";
import type { MirrorContext } from "../mirror/mirror-context.ts";
import type { CommitTree, TreeIndex } from "../tree.ts";
import { checkObjectIds, objectFormatOf } from "../tree.ts";
import { type BlobCache, type BlobReader, unreadable } from "./blob-reader.ts";
import { diffCommits } from "./diff.ts";
import { searchCommit, searchContents } from "./search.ts";

/** For at most 64 MB, also from a slow disk. */
const copyMsMax = 10 * 60_000;

export interface CommitTreeDeps {
  context: MirrorContext;
  reader: BlobReader;
  cache: BlobCache;
  indexOf(commit: string): Promise<TreeIndex>;
  /** Aborted when the mirrors are closed. */
  closing: AbortSignal;
}

/** A commit of a mirror, read by path: its file list from a cache, its files through one long-lived process. */
export function openCommitTree(deps: CommitTreeDeps, commit: string): CommitTree {
  checkObjectIds(commit);
  const { context, cache, closing } = deps;
  const index = () => deps.indexOf(commit);
  const either = (signal?: AbortSignal) => (signal ? AbortSignal.any([signal, closing]) : closing);
  return {
    commit,
    index,
    list: async () => (await index()).list,
    async read(path) {
      const entry = (await index()).entries.get(path);
      if (!entry || entry.size === null || entry.mode === "120000") return null;
      checkSize(path, entry.size, context.limits.fileBytesMax);
      const content = cache.get(entry.oid) ?? (await readBlob(deps, entry.oid));
      cache.put(entry.oid, content);
      return content;
    },
    readLink: async ({ oid }) => (await readBlob(deps, oid)).toString("utf8"),
    copyOut: (ids, signal) => copyBlobs(context, ids, either(signal)),
    async search(query, signal, options) {
      const input = { commit, index: await index(), query, except: options?.except };
      return searchCommit(context, input, either(signal));
    },
    searchContents: (contents, query, signal) =>
      searchContents(context, { contents, query, format: objectFormatOf(commit) }, either(signal)),
    async diff(entries, signal) {
      if (entries.length === 0) return Buffer.alloc(0);
      const to = await buildUnpinned(context, { base: commit, entries }, either(signal));
      return (await diffCommits(context, { from: commit, to }, either(signal))).patch;
    },
  };
}

function checkSize(path: string, size: number, fileBytesMax: number): void {
  if (size <= fileBytesMax) return;
  const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  const publicMessage = `${path} has ${mebibytes(size)} MiB; files over ${mebibytes(fileBytesMax)} MiB are not read.`;
  throw new TreeFault("invalid_request", { publicMessage });
}

/** Writes blobs into a file that git's own cleaning removes, if this process cannot. */
async function copyBlobs(
  { git, place, health }: MirrorContext,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const outputFile = join(place.gitDir, "objects", "pack", `tmp_${randomUUID()}`);
  const args = ["cat-file", "--batch", "--buffer"];
  const input = [`${ids.join("\n")}\n`];
  try {
    await git.must({ gitDir: place.gitDir, args, input, outputFile, timeMsMax: copyMsMax, outputBytesMax: 0 }, signal);
    return outputFile;
  } catch (error) {
    await rm(outputFile, { force: true });
    signal.throwIfAborted();
    if (isFault(error) && error.retryable) throw error;
    health.suspect = true;
    throw unreadable(ids[0] ?? "");
  }
}

async function readBlob(deps: CommitTreeDeps, oid: string): Promise<Buffer> {
  const { reader, context } = deps;
  try {
    const content = await reader.read(oid);
    if (content) return content;
    // The process may have read while a garbage collection moved objects.
    await reader.close();
    const again = await reader.read(oid);
    if (again) return again;
    throw unreadable(oid);
  } catch (error) {
    context.health.suspect = true;
    throw error;
  }
}
