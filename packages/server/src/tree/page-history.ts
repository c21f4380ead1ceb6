import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../errors.ts";
import type { Git } from "./git.ts";
import type { Remote } from "./mirror.ts";

const commitsMax = 10;
/** How far back it is looked: folders without their files take little, but not nothing. */
const depthMax = 300;
const timeMsMax = 20_000;
const packBytesMax = 32 * 1024 * 1024;
const outputBytesMax = 64 * 1024;
const messageCharactersMax = 300;

interface PageCommit {
  id: string;
  date: string;
  author: string;
  message: string;
}

/** The newest commits of a branch that touched a file. None: it was not touched lately. */
export type PageHistory = (
  input: { remote: Remote; branch: string; path: string },
  signal: AbortSignal,
) => Promise<readonly PageCommit[]>;

/** Mirrors hold one commit and must never become partial, so history is fetched beside them, without the files. */
export function createPageHistory({ git, dir }: { git: Git; dir: string }): PageHistory {
  return async ({ remote, branch, path }, signal) => {
    const ref = `refs/heads/${branch}`;
    // The local forge's repositories are folders of this machine, with all their history.
    if (remote.url.startsWith("file:")) return logOf(git, fileURLToPath(remote.url), ref, path, signal);
    // Named so that the mirrors' own sweep takes it away should this process be killed.
    const gitDir = join(dir, `history.git.new-${randomBytes(6).toString("hex")}`);
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const run = (args: readonly string[], more = {}) =>
        git.must({ gitDir, args, timeMsMax, outputBytesMax, ...more }, signal);
      await run(["init", "--quiet", "--bare", gitDir]);
      const limits = [`--depth=${depthMax}`, "--filter=blob:none", "--no-tags", "--no-write-fetch-head", "--quiet"];
      await run(["fetch", ...limits, "--", remote.url, `${ref}:refs/history`], { remote, fileBytesMax: packBytesMax });
      const oldest = await readFile(join(gitDir, "shallow"), "utf8").catch(() => "");
      const commits = await logOf(git, gitDir, "refs/history", path, signal);
      // Beyond the oldest commit nothing was fetched: it looks as if it had made every file that it holds.
      return commits.filter(({ id }) => !oldest.includes(id));
    } catch (error) {
      signal.throwIfAborted();
      const publicMessage = "The history of this repository cannot be read now. Go on without it.";
      throw new AppError("invalid_request", { publicMessage, cause: error });
    } finally {
      await rm(gitDir, { recursive: true, force: true });
    }
  };
}

async function logOf(
  git: Git,
  gitDir: string,
  ref: string,
  path: string,
  signal: AbortSignal,
): Promise<readonly PageCommit[]> {
  const format = "--format=%x01%H%x00%as%x00%an%x00%B";
  const args = ["log", `--max-count=${commitsMax}`, "--no-merges", format, ref, "--", `:(literal)${path}`];
  const output = await git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
  return output
    .toString("utf8")
    .split("\x01")
    .slice(1)
    .map((record) => {
      const [id = "", date = "", author = "", message = ""] = record.split("\0");
      return { id, date, author, message: message.trim().replaceAll(/\s+/g, " ").slice(0, messageCharactersMax) };
    });
}
