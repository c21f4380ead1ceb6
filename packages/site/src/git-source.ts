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

interface Changes {
  changed: Map<string, SiteFile>;
  gone: Set<string>;
}

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
  const changes: Changes = { changed: new Map(), gone: new Set() };
  const trees = [known.commit, commit].map((one) => `${one}:${place}`);
  if (place === null || !(await compareTrees(read, trees, "", changes))) return null;
  const { changed, gone } = changes;
  const same = gone.size === 0 ? known.files.with(changed) : null;
  if (same !== null) return { commit, files: same };
  const files = [...new Map([...known.files, ...changed]).values()].filter(({ path }) => !gone.has(path));
  files.sort((left, right) => (left.path < right.path ? -1 : 1));
  return { commit, files: PathMap.of(files, (file) => file) };
}

type ReadObject = (name: string) => Promise<Buffer | null>;

/** The files that differ between two trees, or that only one has if the other is null. False: there are too many. */
async function compareTrees(
  read: ReadObject,
  trees: readonly (string | null)[],
  folder: string,
  changes: Changes,
): Promise<boolean> {
  const [before, after] = await Promise.all(trees.map((tree) => (tree === null ? new Set("") : readTree(read, tree))));
  if (!before || !after) return false;
  const [old, now] = [entriesOf(before, after), entriesOf(after, before)];
  const below: Promise<boolean>[] = [];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const path = `${folder}${name}`;
    const entries = [old.get(name), now.get(name)];
    // Without sizes: they would take another question, and what is too large shows when it is read.
    if (entries[1]?.kind === "file") changes.changed.set(path, { path, hash: entries[1].id });
    else if (entries[0]?.kind === "file") changes.gone.add(path);
    const folders = entries.map((entry) => (entry?.kind === "folder" ? entry.id : null));
    if (folders.some((id) => id !== null)) below.push(compareTrees(read, folders, `${path}/`, changes));
    if (changes.changed.size + changes.gone.size + below.length > changesMax) return false;
  }
  return (await Promise.all(below)).every(Boolean);
}

/** The entries of a tree as git stores them, one character a byte: `MODE NAME`, a zero and the id. Null if there is none. */
async function readTree(read: ReadObject, name: string): Promise<Set<string> | null> {
  const bytes = await read(name);
  if (bytes === null || bytes.length >= blobBytesMax) return null;
  const text = bytes.toString("latin1");
  const idLength = /^[\da-f]{64}/.test(name) ? 32 : 20;
  const entries = new Set<string>();
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\0", at) + 1 + idLength;
    entries.add(text.slice(at, end));
    at = end;
  }
  return entries;
}

interface TreeEntry {
  /** Links and submodules are neither. */
  kind: "file" | "folder" | "other";
  id: string;
}

/** By name, without those that another tree has too. */
function entriesOf(stored: ReadonlySet<string>, other: ReadonlySet<string>): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (const entry of stored) {
    if (other.has(entry)) continue;
    const [space, zero] = [entry.indexOf(" "), entry.indexOf("\0")];
    const kind = entry.startsWith("40000") ? "folder" : entry.startsWith("100") ? "file" : "other";
    const name = Buffer.from(entry.slice(space + 1, zero), "latin1").toString();
    entries.set(name, { kind, id: Buffer.from(entry.slice(zero + 1), "latin1").toString("hex") });
  }
  return entries;
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
