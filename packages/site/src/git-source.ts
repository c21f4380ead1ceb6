import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { isAbsent } from "./text/absent.ts";
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
  return {
    async at(commit) {
      const files: SiteFile[] = [];
      const ids = new Map<string, string>();
      for (const entry of (await runGit(dir, ["ls-tree", "-r", "-z", "--long", commit, "--", "."])).split("\0")) {
        const found = /^100\d+ blob ([0-9a-f]+) +(\d+)\t([\s\S]+)$/.exec(entry);
        if (found === null) continue;
        files.push({ path: found[3] as string, hash: found[1] as string, size: Number(found[2]) });
        ids.set(found[3] as string, found[1] as string);
      }
      return {
        list: async () => files,
        async read(path) {
          const id = ids.get(path);
          return id === undefined ? null : blobs.read(id);
        },
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

interface Waiting {
  resolve(bytes: Buffer | null): void;
  reject(error: Error): void;
}

/** Reads blobs by id. Requests are pipelined; responses arrive in order. */
function createBlobReader(dir: string): { read(id: string): Promise<Buffer | null>; close(): void } {
  let child: ChildProcessWithoutNullStreams | null = null;
  const waiting: Waiting[] = [];
  let chunks: Buffer[] = [];
  let held = 0;
  // The remaining bytes of the current response, with its line feed. Null: its header line comes next.
  let wanted: number | null = null;

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
      if (wanted === null) {
        const newline = rest.indexOf(10);
        if (newline === -1) break;
        const [, type, size] = rest.toString("latin1", 0, newline).split(" ");
        rest = rest.subarray(newline + 1);
        if (type === "missing") waiting.shift()?.resolve(null);
        else wanted = Number(size) + 1;
      } else if (rest.length >= wanted) {
        // A copy, so that a kept piece does not retain the whole chunk.
        waiting.shift()?.resolve(Buffer.from(rest.subarray(0, wanted - 1)));
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
    read(id) {
      child ??= open();
      const { promise, resolve, reject } = Promise.withResolvers<Buffer | null>();
      waiting.push({ resolve, reject });
      child.stdin.write(`${id}\n`);
      return promise;
    },
    close: () => child?.stdin.end(),
  };
}
