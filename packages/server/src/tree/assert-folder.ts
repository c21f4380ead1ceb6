import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError } from "../errors.ts";
import type { Git } from "./git.ts";
import type { Remote } from "./mirror.ts";
import { resolveBase } from "./resolve-base.ts";

const timeMsMax = 10_000;
/** Names of a hundred thousand files; a repository that sends more is not waited for. */
const packBytesMax = 32 * 1024 * 1024;
const outputBytesMax = 64 * 1024;
const foldersShownMax = 8;

/**
 * Refuses a docs folder that the repository does not have, saying which it has: a job there would find no page. A
 * repository that is empty, or cannot be read cheaply just now, is let through.
 */
export async function assertFolder(
  git: Git,
  input: { remote: Remote; baseRef: string | null; folder: string },
  signal: AbortSignal,
): Promise<void> {
  if (input.folder === "") return;
  const found = await look(git, input, signal).catch(() => null);
  if (found === null || found.hasFolder) return;
  const shown =
    found.folders.slice(0, foldersShownMax).join(", ") + (found.folders.length > foldersShownMax ? ", …" : "");
  const known = found.folders.length === 0 ? "it has no folder at all" : `folders at its top: ${shown}`;
  throw new AppError("invalid_request", {
    publicMessage: `The repository has no folder "${input.folder}" on ${found.branch}; ${known}.`,
  });
}

interface Look {
  branch: string;
  hasFolder: boolean;
  folders: readonly string[];
}

async function look(
  git: Git,
  { remote, baseRef, folder }: Parameters<typeof assertFolder>[1],
  signal: AbortSignal,
): Promise<Look> {
  const { branch, commit } = await resolveBase(git, { remote, baseRef }, signal);
  // The local forge's repositories are folders of this machine.
  if (remote.url.startsWith("file:")) return lookIn(git, fileURLToPath(remote.url), { branch, commit, folder }, signal);
  const gitDir = await mkdtemp(join(tmpdir(), "emend-look-"));
  try {
    const run = (args: readonly string[], more = {}) =>
      git.must({ gitDir, args, timeMsMax, outputBytesMax, ...more }, signal);
    await run(["init", "--quiet", "--bare", "--template=", gitDir]);
    const limits = ["--depth=1", "--filter=blob:none", "--no-tags", "--no-write-fetch-head", "--quiet"];
    const refspec = `refs/heads/${branch}:refs/look`;
    await run(["fetch", ...limits, "--", remote.url, refspec], { remote, fileBytesMax: packBytesMax });
    return await lookIn(git, gitDir, { branch, commit: "refs/look", folder }, signal);
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function lookIn(
  git: Git,
  gitDir: string,
  { branch, commit, folder }: { branch: string; commit: string; folder: string },
  signal: AbortSignal,
): Promise<Look> {
  const foldersOf = async (...paths: string[]) => {
    const args = ["ls-tree", "-d", "-z", "--name-only", "--full-tree", commit, "--", ...paths];
    const output = await git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
    return output
      .toString("utf8")
      .split("\0")
      .filter((name) => name !== "");
  };
  return { branch, hasFolder: (await foldersOf(folder)).includes(folder), folders: await foldersOf() };
}
