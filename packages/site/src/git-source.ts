import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isAbsent } from "./folder-tree.ts";
import { PathMap } from "./path-map.ts";
import type { SiteFile, SiteTree } from "./types.ts";

const run = promisify(execFile);
const outputBytesMax = 512 * 1024 * 1024;

/** Removes git's repository variables: in a git hook, they would override the folder. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_PREFIX, ...env } = process.env;
  return env;
}

/** The output of a git command in a folder. */
export async function runGit(dir: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  const options = { maxBuffer: outputBytesMax, env: gitEnvironment(), ...(signal && { signal }) };
  return (await run("git", ["-C", dir, ...args], options)).stdout;
}

/** The commits of a repository as trees, read through one process and without a checkout. */
export interface GitSource {
  /** The folder's files at a commit, by path relative to the folder. */
  at(commit: string): Promise<SiteTree>;
  /** The folder on disk: tracked files, and untracked files that are not ignored. */
  onDisk(): Promise<SiteTree>;
  /** Old path → new path of files that git detects as renamed between two commits. */
  renames(before: string, after: string): Promise<Map<string, string>>;
  close(): void;
}

export function openGitSource(dir: string): GitSource {
  const blobs = createBlobReader(dir);
  let latest: Listing | null = null;

  async function listAt(revision: string): Promise<Listing> {
    const commit = /^(?:[\da-f]{40}|[\da-f]{64})$/.test(revision)
      ? revision
      : (await runGit(dir, ["rev-parse", "--verify", "--end-of-options", `${revision}^{commit}`])).trim();
    if (latest?.commit === commit) return latest;
    const changes = latest && listFrom(dir, latest, commit);
    // Who asks for the next commit reads what changed.
    if (changes) blobs.start();
    latest = (await changes) ?? (await listAll(dir, commit));
    return latest;
  }

  return {
    async at(commit) {
      const { files } = await listAt(commit);
      return {
        list: async () => [...files.values()],
        async read(path) {
          const id = files.get(path)?.hash;
          return id === undefined ? null : blobs.read(id);
        },
        readMany: (paths, signal) => readMany(dir, paths, (path) => files.get(path)?.hash ?? "", signal),
      };
    },
    async onDisk() {
      const listed = await runGit(dir, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
      const files = [...new Set(listed.split("\0"))].filter((path) => path !== "").map((path) => ({ path }));
      return {
        list: async () => files,
        async read(path) {
          try {
            return await readFile(join(dir, path));
          } catch (error) {
            // Deleted but not committed, or a submodule.
            if (isAbsent(error)) return null;
            throw error;
          }
        },
      };
    },
    async renames(before, after) {
      const args = ["diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", "--relative", before, after];
      const parts = (await runGit(dir, args)).split("\0");
      const renames = new Map<string, string>();
      for (let at = 0; at + 2 < parts.length; at += 3) renames.set(parts[at + 1] as string, parts[at + 2] as string);
      return renames;
    },
    close: blobs.close,
  };
}

/** The files of a folder at a commit, by path. */
interface Listing {
  commit: string;
  files: PathMap<SiteFile>;
}

async function listAll(dir: string, commit: string): Promise<Listing> {
  const files: [string, SiteFile][] = [];
  for (const entry of (await runGit(dir, ["ls-tree", "-r", "-z", "--long", commit, "--", "."])).split("\0")) {
    const tab = entry.indexOf("\t");
    const [mode, type, hash, size] = entry.slice(0, tab).split(/ +/);
    if (type !== "blob" || hash === undefined || mode?.startsWith("100") !== true) continue;
    const path = entry.slice(tab + 1);
    files.push([path, { path, hash, size: Number(size) }]);
  }
  return { commit, files: PathMap.of(files) };
}

// With more changes than this, a new list is as fast.
const changesMax = 2000;

/** The list of a commit, from another commit's list and the files that differ. Null: list it anew. */
async function listFrom(dir: string, known: Listing, commit: string): Promise<Listing | null> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--relative", known.commit, commit];
  const parts = (await runGit(dir, args)).split("\0");
  if (parts.length > changesMax * 2) return null;
  // Without sizes: they would take another process, and what is too large shows when it is read.
  const changed = new Map<string, SiteFile>();
  const gone = new Set<string>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, mode, , hash] = (parts[at] as string).split(" ");
    const path = parts[at + 1] as string;
    if (mode?.startsWith("100") && hash !== undefined) changed.set(path, { path, hash });
    else gone.add(path);
  }
  const same = gone.size === 0 ? known.files.with(changed) : null;
  if (same !== null) return { commit, files: same };
  const files = [...new Map([...known.files, ...changed])].filter(([path]) => !gone.has(path));
  return { commit, files: PathMap.of(files.sort(([left], [right]) => (left < right ? -1 : 1))) };
}

function startGit(dir: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn("git", ["-C", dir, ...args], { env: gitEnvironment() });
  child.stderr.resume();
  // A failure shows as output that ends too soon.
  child.stdin.on("error", () => undefined);
  child.on("error", () => undefined);
  return child;
}

/** Reads files through a process of its own, which writes all of them as one stream. */
async function* readMany(
  dir: string,
  paths: readonly string[],
  idOf: (path: string) => string,
  signal: AbortSignal | undefined,
): AsyncIterable<[string, Buffer | null][]> {
  const child = startGit(dir, ["cat-file", "--batch", "--buffer"]);
  try {
    child.stdin.end(`${paths.map(idOf).join("\n")}\n`);
    let at = 0;
    for await (const contents of parseBlobs(child.stdout)) {
      signal?.throwIfAborted();
      yield contents.map((content) => [paths[at++] as string, content]);
    }
    if (at < paths.length) throw new Error(`git stopped while it read ${dir}`);
  } finally {
    child.kill();
  }
}

const blockBytes = 2 ** 18;
// What is longer is cut. Neither pages nor sources of this size are looked at, and a gigabyte must not fill the memory.
const blobBytesMax = 8 * 1024 * 1024;

/** Splits the output of `git cat-file --batch` into contents. They are views that are valid until the next batch. */
export async function* parseBlobs(output: AsyncIterable<Buffer>): AsyncIterable<(Buffer | null)[]> {
  // One block for everything: a new buffer for each chunk would keep the garbage collector busy.
  let data = Buffer.allocUnsafeSlow(blockBytes);
  let at = 0;
  let held = 0;
  // The bytes that make a next content whole.
  let wanted = 0;
  // What follows a content: the rest of one that is cut, and a line feed.
  let ignored = 0;
  for await (const chunk of output) {
    if (held + chunk.length > data.length) {
      const rest = held - at;
      const block = rest + chunk.length > data.length ? Buffer.allocUnsafeSlow((rest + chunk.length) * 2) : data;
      data.copy(block, 0, at, held);
      data = block;
      at = 0;
      held = rest;
    }
    chunk.copy(data, held);
    held += chunk.length;
    if (held - at < wanted) continue;
    const contents: (Buffer | null)[] = [];
    wanted = 0;
    for (;;) {
      const passed = Math.min(ignored, held - at);
      at += passed;
      ignored -= passed;
      if (ignored > 0) break;
      const newline = data.indexOf(10, at);
      if (newline === -1 || newline >= held) break;
      const header = data.toString("latin1", at, newline);
      const size = Number(header.slice(header.lastIndexOf(" ") + 1));
      // `missing`: a partial clone.
      if (Number.isNaN(size)) {
        contents.push(null);
        at = newline + 1;
        continue;
      }
      const end = newline + 1 + Math.min(size, blobBytesMax);
      if (end > held) {
        wanted = end - at;
        break;
      }
      contents.push(data.subarray(newline + 1, end));
      at = end;
      ignored = newline + 1 + size - end + 1;
    }
    if (contents.length > 0) yield contents;
  }
}

interface Waiting {
  resolve(bytes: Buffer | null): void;
  reject(error: Error): void;
}

/** Reads blobs by id. Requests are pipelined; responses arrive in order. */
function createBlobReader(dir: string): { start(): void; read(id: string): Promise<Buffer | null>; close(): void } {
  let child: ChildProcessWithoutNullStreams | null = null;
  const waiting: Waiting[] = [];
  let chunks: Buffer[] = [];
  let held = 0;
  // The bytes of the current response. Null: its header line comes next.
  let wanted: number | null = null;
  // What follows them: the rest of a content that is cut, and a line feed.
  let ignored = 0;

  function fail(error: Error): void {
    child = null;
    for (const one of waiting.splice(0)) one.reject(error);
  }

  function take(chunk: Buffer): void {
    chunks.push(chunk);
    held += chunk.length;
    if (wanted !== null && held < wanted) return;
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    for (;;) {
      if (wanted === null && ignored > 0) {
        const passed = Math.min(ignored, rest.length);
        ignored -= passed;
        rest = rest.subarray(passed);
        if (ignored > 0) break;
      } else if (wanted === null) {
        const newline = rest.indexOf(10);
        if (newline === -1) break;
        const [, type, size] = rest.toString("latin1", 0, newline).split(" ");
        rest = rest.subarray(newline + 1);
        if (type === "missing") waiting.shift()?.resolve(null);
        else {
          wanted = Math.min(Number(size), blobBytesMax);
          ignored = Number(size) - wanted + 1;
        }
      } else if (rest.length >= wanted) {
        // A copy, so that a kept piece does not retain the whole chunk.
        waiting.shift()?.resolve(Buffer.from(rest.subarray(0, wanted)));
        rest = rest.subarray(wanted);
        wanted = null;
      } else break;
    }
    chunks = rest.length === 0 ? [] : [rest];
    held = rest.length;
  }

  function open(): ChildProcessWithoutNullStreams {
    const started = spawn("git", ["-C", dir, "cat-file", "--batch"], { env: gitEnvironment() });
    started.stdout.on("data", take);
    started.stderr.resume();
    started.stdin.on("error", fail);
    started.on("error", fail);
    started.on("close", () => fail(new Error(`git stopped while it read ${dir}`)));
    return started;
  }

  return {
    start() {
      child ??= open();
    },
    read(id) {
      child ??= open();
      const { promise, resolve, reject } = Promise.withResolvers<Buffer | null>();
      waiting.push({ resolve, reject });
      const { stdin } = child;
      // Requests of the same tick are written together.
      if (stdin.writableCorked === 0) {
        stdin.cork();
        process.nextTick(() => stdin.uncork());
      }
      stdin.write(`${id}\n`);
      return promise;
    },
    close: () => child?.stdin.end(),
  };
}
