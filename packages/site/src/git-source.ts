import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
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

const recentMax = 256;
const recentBytesMax = 128 * 1024;

export function openGitSource(dir: string): GitSource {
  const blobs = createBlobReader(dir);
  let latest: Listing | null = null;
  let place: Promise<string | null> | undefined;
  // Who compares two commits reads the same few files several times.
  const recent = new Map<string, Promise<Buffer | null>>();
  async function readBlob(id: string): Promise<Buffer | null> {
    const reading = recent.get(id) ?? blobs.read(id);
    recent.delete(id);
    recent.set(id, reading);
    for (const [oldest] of recent) if (recent.size > recentMax) recent.delete(oldest);
    let isKept = false;
    try {
      const content = await reading;
      isKept = content !== null && content.length <= recentBytesMax;
      return content;
    } finally {
      // What failed is asked for again.
      if (!isKept) recent.delete(id);
    }
  }

  async function listAt(revision: string): Promise<Listing> {
    const commit = /^(?:[\da-f]{40}|[\da-f]{64})$/.test(revision)
      ? revision
      : (await runGit(dir, ["rev-parse", "--verify", "--end-of-options", `${revision}^{commit}`])).trim();
    if (latest?.commit === commit) return latest;
    const known = latest && (await listFrom(blobs.read, (await place) ?? null, latest, commit));
    const listed = known ?? listAll(dir, commit);
    // While git lists a commit: who lists one reads files of it, or compares it with the next one.
    blobs.start();
    place ??= placeOf(dir);
    latest = await listed;
    return latest;
  }

  return {
    async at(commit) {
      const { files } = await listAt(commit);
      return {
        list: async () => [...files.values()],
        async read(path) {
          const id = files.get(path)?.hash;
          return id === undefined ? null : readBlob(id);
        },
        copyOut: (hashes, signal) => copyBlobs(dir, hashes, signal),
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
      const detect = (how: string) =>
        runGit(dir, ["diff-tree", "-r", "-z", how, "--diff-filter=R", "--name-status", "--relative", before, after]);
      // In a clone that lacks files, git can compare only their ids.
      const parts = (await detect("-M").catch(() => detect("-M100%"))).split("\0");
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

/** The folder's path in its repository. Null if it is unknown, or if git cannot be asked for it in a line. */
async function placeOf(dir: string): Promise<string | null> {
  const place = await runGit(dir, ["rev-parse", "--show-prefix"]).catch(() => "\n\n");
  return /^[^\n]*\n$/.test(place) ? place.slice(0, -1) : null;
}

async function listAll(dir: string, commit: string): Promise<Listing> {
  const files: SiteFile[] = [];
  for (const entry of (await runGit(dir, ["ls-tree", "-r", "-z", "--long", commit, "--", "."])).split("\0")) {
    // `100644 blob ID SIZE`, a tab and the path. Instead of the size, `BAD` if the clone lacks the blob.
    if (!/^100... blob /.test(entry)) continue;
    const tab = entry.indexOf("\t");
    const idEnd = entry.indexOf(" ", 12);
    const path = entry.slice(tab + 1);
    files.push({ path, hash: entry.slice(12, idEnd), size: Number(entry.slice(idEnd + 1, tab)) || 0 });
  }
  return { commit, files: PathMap.of(files, (file) => file) };
}

// With more changes than this, a new list is as fast.
const changesMax = 2000;

/**
 * The list of a commit, from another commit's list and the files that differ. Trees are read through the process that reads
 * files: to start another one takes longer. Null: list it anew.
 */
async function listFrom(
  read: ReadObject,
  place: string | null,
  known: Listing,
  commit: string,
): Promise<Listing | null> {
  if (place === null) return null;
  const changes = await compareTrees(read, [`${known.commit}:${place}`, `${commit}:${place}`]);
  if (changes === null) return null;
  const { changed, gone } = changes;
  const same = gone.size === 0 ? known.files.with(changed) : null;
  if (same !== null) return { commit, files: same };
  const files = [...new Map([...known.files, ...changed]).values()].filter(({ path }) => !gone.has(path));
  files.sort((left, right) => (left.path < right.path ? -1 : 1));
  return { commit, files: PathMap.of(files, (file) => file) };
}

type ReadObject = (name: string) => Promise<Buffer | null>;

interface FolderPair {
  folder: string;
  /** The names of its tree before and after; null where it does not exist. */
  trees: readonly [string | null, string | null];
}

/** The files that differ between two trees. Null if there are too many, or if a tree is not as git writes it today. */
async function compareTrees(
  read: ReadObject,
  trees: readonly [string, string],
): Promise<{ changed: Map<string, SiteFile>; gone: Set<string> } | null> {
  const changed = new Map<string, SiteFile>();
  const gone = new Set<string>();
  let looked = 0;
  for (let level: FolderPair[] = [{ folder: "", trees }]; level.length > 0; ) {
    looked += level.length;
    if (looked + changed.size + gone.size > changesMax) return null;
    const pairs = await Promise.all(
      level.map(async (pair) => ({ ...pair, entries: await readPair(read, pair.trees) })),
    );
    level = [];
    for (const { folder, entries } of pairs) {
      if (entries === null) return null;
      for (const [name, [old, now]] of entries) {
        const path = `${folder}${name}`;
        // Without sizes: they would take another question, and what is too large shows when it is read.
        if (now?.kind === "file") changed.set(path, { path, hash: now.id });
        else if (old?.kind === "file") gone.add(path);
        const [before, after] = [old, now].map((entry) => (entry?.kind === "folder" ? entry.id : null));
        if (before || after) level.push({ folder: `${path}/`, trees: [before ?? null, after ?? null] });
      }
    }
  }
  return { changed, gone };
}

interface TreeEntry {
  kind: "file" | "folder" | "other";
  id: string;
}

/** The entries that differ between two trees, by name. Null if one cannot be read. */
async function readPair(
  read: ReadObject,
  trees: FolderPair["trees"],
): Promise<Map<string, [TreeEntry | undefined, TreeEntry | undefined]> | null> {
  const [before, after] = await Promise.all(
    trees.map((tree) => (tree === null ? new Set<string>() : readTree(read, tree))),
  );
  if (!before || !after) return null;
  const differing = new Map<string, [TreeEntry | undefined, TreeEntry | undefined]>();
  for (const [side, stored, other] of [[0, before, after] as const, [1, after, before] as const]) {
    for (const entry of stored) {
      if (other.has(entry)) continue;
      const parsed = parseEntry(entry);
      if (parsed === null) return null;
      const pair = differing.get(parsed.name) ?? [undefined, undefined];
      pair[side] = parsed;
      differing.set(parsed.name, pair);
    }
  }
  return differing;
}

/** The entries of a tree as git stores them, one character a byte: `MODE NAME`, a zero and the id. Null if there is none. */
async function readTree(read: ReadObject, name: string): Promise<Set<string> | null> {
  const bytes = await read(name);
  if (bytes === null || bytes.length >= blobBytesMax) return null;
  const text = bytes.toString("latin1");
  const idLength = /^[\da-f]{64}/.test(name) ? 32 : 20;
  const entries = new Set<string>();
  for (let at = 0; at < text.length; ) {
    const zero = text.indexOf("\0", at);
    const end = zero + 1 + idLength;
    if (zero === -1 || end > text.length) return null;
    entries.add(text.slice(at, end));
    at = end;
  }
  return entries;
}

const kinds: Readonly<Record<string, TreeEntry["kind"]>> = {
  "40000": "folder",
  "100644": "file",
  "100755": "file",
  "120000": "other",
  "160000": "other",
};

/** Null for modes that only old programs wrote, and for names that are not UTF-8: two of them could become one. */
function parseEntry(entry: string): (TreeEntry & { name: string }) | null {
  const [space, zero] = [entry.indexOf(" "), entry.indexOf("\0")];
  const kind = kinds[entry.slice(0, space)];
  const name = Buffer.from(entry.slice(space + 1, zero), "latin1").toString();
  if (kind === undefined || name.includes("\ufffd")) return null;
  return { kind, name, id: Buffer.from(entry.slice(zero + 1), "latin1").toString("hex") };
}

/** Writes blobs into a file, as git prints them. Through pipes they would come in pieces of 4 kB. */
async function copyBlobs(dir: string, ids: readonly string[], signal: AbortSignal | undefined): Promise<string> {
  const path = join(tmpdir(), `emend-${randomUUID()}`);
  const file = openSync(path, "wx", 0o600);
  try {
    const args = ["-C", dir, "cat-file", "--batch", "--buffer"];
    const options = { env: gitEnvironment(), ...(signal && { signal }) };
    const child = spawn("git", args, { ...options, stdio: ["pipe", file, "ignore"] });
    // A failure shows in the exit code.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(`${ids.join("\n")}\n`);
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`git stopped while it read ${dir}`);
    return path;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Splits the output of `git cat-file --batch` into contents. Null: there is no such object. */
export function* parseBlobs(output: Buffer, count: number): Iterable<Buffer | null> {
  let at = 0;
  for (let i = 0; i < count; i++) {
    const newline = output.indexOf(10, at);
    if (newline === -1) throw new Error("git's output ended too soon");
    const header = output.toString("latin1", at, newline);
    const size = Number(header.slice(header.lastIndexOf(" ") + 1));
    at = newline + 1;
    // `missing`: a partial clone.
    if (Number.isNaN(size)) yield null;
    else {
      if (at + size > output.length) throw new Error("git's output ended too soon");
      yield output.subarray(at, at + size);
      at += size + 1;
    }
  }
}

// What is longer is cut. Neither pages nor sources of this size are looked at, and a gigabyte must not fill the memory.
const blobBytesMax = 8 * 1024 * 1024;

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

  function fail(failed: ChildProcessWithoutNullStreams, error: Error): void {
    // An earlier one may end late.
    if (child !== failed) return;
    child = null;
    [chunks, held, wanted, ignored] = [[], 0, null, 0];
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
        // Otherwise it says that there is no such object. The name that it repeats may have spaces.
        const size = /^[\da-f]+ \w+ (\d+)$/.exec(rest.toString("latin1", 0, newline))?.[1];
        rest = rest.subarray(newline + 1);
        if (size === undefined) waiting.shift()?.resolve(null);
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
    for (const part of [started, started.stdin]) part.on("error", (error: Error) => fail(started, error));
    started.on("close", () => fail(started, new Error(`git stopped while it read ${dir}`)));
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
