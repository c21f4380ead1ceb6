import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type FileChange,
  folderTree,
  gitEnvironment,
  historyArgs,
  parseHistory,
  repositoryAround,
  runGit,
  type SiteFile,
  type SiteTree,
} from "@emend/site";
import { CliError } from "../cli.ts";

/** The folder at a commit of its repository. */
export async function gitTree(dir: string, ref: string): Promise<SiteTree> {
  const commit = await findCommit(dir, ref);
  const listed = await runGit(dir, ["ls-tree", "-r", "-z", "--long", commit.trim(), "--", "."]);
  const files: SiteFile[] = [];
  for (const entry of listed.split("\0")) {
    const found = /^100\d+ blob ([0-9a-f]+) +(\d+)\t([\s\S]+)$/.exec(entry);
    if (found !== null) files.push({ path: found[3] as string, hash: found[1] as string, size: Number(found[2]) });
  }
  const hashes = new Map(files.map((file) => [file.path, file.hash as string]));
  const contents = await readAll(dir, [...new Set(hashes.values())]);
  return {
    list: async () => files,
    read: async (path) => contents.get(hashes.get(path) ?? "") ?? null,
    repository: () => repositoryAround(dir),
    history: () => historyAt(dir, commit.trim()),
  };
}

async function historyAt(dir: string, commit: string): Promise<Map<string, FileChange>> {
  const shallow = resolve(dir, (await runGit(dir, ["rev-parse", "--git-path", "shallow"])).trim());
  const log = await runGit(dir, [...historyArgs, "--relative", commit, "--", "."]);
  return parseHistory(log, await readFile(shallow, "utf8").catch(() => ""));
}

/** A folder on disk, with its repository's history if there is one. */
export function workTree(dir: string): SiteTree {
  return {
    ...folderTree(dir),
    async history() {
      const changes = await historyAt(dir, "HEAD").catch(() => null);
      // Not in a repository, or before its first commit.
      if (changes === null) return new Map();
      const lists = [
        ["diff", "--name-only", "-z", "--relative", "HEAD", "--", "."],
        ["ls-files", "-z", "--others", "--exclude-standard"],
      ];
      for (const args of lists) {
        for (const path of (await runGit(dir, args)).split("\0"))
          changes.set(path, { rank: 0, commit: null, date: "" });
      }
      return changes;
    },
  };
}

/** A folder's path in its repository: "" or a path with a trailing slash. */
export async function folderInRepository(dir: string): Promise<string> {
  return (await runGit(dir, ["rev-parse", "--show-prefix"]).catch(() => "")).trim();
}

async function findCommit(dir: string, ref: string): Promise<string> {
  const isRepository = await runGit(dir, ["rev-parse", "--git-dir"]).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new CliError("usage", "--base: git is not installed", error);
    return null;
  });
  if (isRepository === null) throw new CliError("usage", `--base: ${dir} is in no git repository`);
  return runGit(dir, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]).catch(() => {
    throw new CliError("usage", `--base: the repository has no commit or branch "${ref}"`);
  });
}

/** Reads all blobs through one process. */
async function readAll(dir: string, hashes: readonly string[]): Promise<Map<string, Uint8Array>> {
  const child = spawn("git", ["-C", dir, "cat-file", "--batch"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: gitEnvironment(),
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve());
  });
  child.stdin.end(hashes.map((hash) => `${hash}\n`).join(""));
  await ended;
  const output = Buffer.concat(chunks);
  const contents = new Map<string, Uint8Array>();
  let at = 0;
  while (at < output.length) {
    const newline = output.indexOf(10, at);
    const [hash = "", type, size = "0"] = output.toString("latin1", at, newline).split(" ");
    at = newline + 1;
    if (type === "missing") continue;
    contents.set(hash, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return contents;
}
