import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { git } from "./product.ts";

/** The public documentation that tasks run on, each pinned to a commit. */
export const sites = {
  mintlify: { url: "https://github.com/mintlify/docs", commit: "3bbce7aa1abf66b19671bc398b9752d608fd0826" },
  fastapi: { url: "https://github.com/fastapi/fastapi", commit: "6d9dc39fcb3eb3bcd9c2a693683d68311d1618e0" },
} as const;

/** A bare clone at the pinned commit. `from`: a folder with clones as `owner+name`; files that they lack are left out. */
export async function cloneOf(
  { url, commit }: { url: string; commit: string },
  { cacheDir, from }: { cacheDir: string; from: string | undefined },
): Promise<string> {
  const name = new URL(url).pathname.slice(1).replace("/", "+");
  const dir = join(cacheDir, `${name}-${commit.slice(0, 12)}${from === undefined ? "" : "-own"}.git`);
  if (await git(dir, "rev-parse", "--verify", "--quiet", "refs/heads/main").catch(() => null)) return dir;
  await mkdir(cacheDir, { recursive: true });
  await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", dir]);
  if (from === undefined) {
    await git(dir, "fetch", "--quiet", "--depth=1", url, commit);
    await git(dir, "update-ref", "refs/heads/main", commit);
  } else await copyCommit(join(from, name), dir, commit);
  return dir;
}

/** Copies the files of a clone's commit into a new commit: a partial clone has no history to fetch. */
async function copyCommit(clone: string, dir: string, commit: string): Promise<void> {
  const places = [clone, join(clone, ".git"), join(clone, "repo")];
  const source = places.find((place) => existsSync(join(place, "objects")));
  if (source === undefined) throw new Error(`${clone} is no clone; see --from`);
  const listed = (await git(source, "ls-tree", "-rz", commit)).split("\0").filter((line) => line !== "");
  const ids = listed.map((line) => line.split(/[ \t]/, 3)[2] ?? "");
  const checked = await withInput(["--git-dir", source, "cat-file", "--batch-check"], `${ids.join("\n")}\n`);
  const absent = new Set(
    checked.split("\n").flatMap((line) => (line.endsWith(" missing") ? [line.split(" ")[0]] : [])),
  );
  const present = listed.filter((line, index) => !absent.has(ids[index]) && line.split(" ", 2)[1] === "blob");
  await writeFile(join(dir, "objects/info/alternates"), `${join(source, "objects")}\n`);
  await withInput(["--git-dir", dir, "update-index", "-z", "--index-info"], `${present.join("\0")}\0`);
  const tree = (await git(dir, "write-tree")).trim();
  const author = ["-c", "user.name=eval", "-c", "user.email=eval@localhost"];
  const copied = (await git(dir, ...author, "commit-tree", "-m", `The files of ${commit}`, tree)).trim();
  await git(dir, "update-ref", "refs/heads/main", copied);
}

const run = promisify(execFile);

async function withInput(args: readonly string[], input: string): Promise<string> {
  const running = run("git", [...args], { maxBuffer: 256 << 20 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}
