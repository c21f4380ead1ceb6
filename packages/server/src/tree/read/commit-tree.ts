import { parseBlobs } from "@emend/site";
import { AppError } from "../../errors.ts";
import { buildUnpinned } from "../mirror/build-commit.ts";
import type { MirrorContext } from "../mirror/mirror-context.ts";
import type { CommitTree, TreeIndex } from "../tree.ts";
import { checkObjectIds, objectFormatOf } from "../tree.ts";
import { type BlobCache, type BlobReader, unreadable } from "./blob-reader.ts";
import { diffCommits } from "./diff.ts";
import { searchCommit, searchContents } from "./search.ts";

/** The timeout without any output while files are read as a stream. */
const stallMsMax = 60_000;

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
    async *readMany(paths, signal) {
      const { entries } = await index();
      const ids = paths.map((path) => entries.get(path)?.oid ?? "");
      let at = 0;
      for await (const contents of streamBlobs(context, ids, either(signal)))
        yield contents.map((content) => [paths[at++] as string, content]);
    },
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
  throw new AppError("invalid_request", { publicMessage });
}

/** Blobs through a process of its own, which writes them as one stream. */
async function* streamBlobs(
  { git, place, health }: MirrorContext,
  ids: readonly string[],
  signal: AbortSignal,
): AsyncIterable<(Buffer | null)[]> {
  const child = git.start({ gitDir: place.gitDir, args: ["cat-file", "--batch", "--buffer"] });
  const stop = () => child.stop();
  signal.addEventListener("abort", stop, { once: true });
  child.stdin.on("error", () => {});
  child.stderr.resume();
  const stalled = setTimeout(stop, stallMsMax);
  let seen = 0;
  try {
    child.stdin.end(`${ids.join("\n")}\n`);
    for await (const contents of parseBlobs(child.stdout)) {
      stalled.refresh();
      seen += contents.length;
      yield contents;
    }
    signal.throwIfAborted();
    if (seen < ids.length) {
      health.suspect = true;
      throw unreadable(ids[seen] as string);
    }
  } finally {
    clearTimeout(stalled);
    signal.removeEventListener("abort", stop);
    stop();
    await child.ended.catch(() => undefined);
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
