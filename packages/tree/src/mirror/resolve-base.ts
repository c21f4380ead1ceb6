import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBranchName } from "@emend/base/branch-name.ts";
import { isFault } from "@emend/base/fault.ts";
import { TreeFault } from "../faults.ts";
import type { RemoteRefs } from "../git/ask-refs.ts";
import { type Git, gitError, httpStatusOf, isUntrusted } from "../git/git.ts";
import { isObjectId } from "../tree.ts";
import type { Remote } from "./mirror.ts";

/** Run outside of any mirror: the object format is not known yet. */
const noGitDir = "/dev/null";
const timeMsMax = 60_000;
const outputBytesMax = 4 * 1024 * 1024;
const namesShownMax = 5;

interface RemoteBase {
  branch: string;
  commit: string;
}

/** Resolves a branch (null: the default branch) on the remote. */
export async function resolveBase(
  git: Git,
  input: { remote: Remote; baseRef: string | null },
  signal: AbortSignal,
): Promise<RemoteBase> {
  const { remote, baseRef } = input;
  if (baseRef !== null && !isBranchName(baseRef)) throw unavailable(`"${baseRef}" is not a valid branch name.`);
  const refs = await listRefs(git, remote, ["HEAD", ...(baseRef === null ? [] : [`refs/heads/${baseRef}`])], signal);
  const branch = baseRef ?? refs.defaultBranch;
  const commit = branch === null ? undefined : (refs.ids.get(`refs/heads/${branch}`) ?? refs.ids.get("HEAD"));
  if (baseRef !== null && !refs.ids.has(`refs/heads/${baseRef}`)) throw await explain(git, remote, baseRef, signal);
  if (branch === null || commit === undefined) throw await explain(git, remote, null, signal);
  return { branch, commit };
}

/** A branch's current commit. Null if it does not exist. */
export async function resolveBranch(
  git: Git,
  input: { remote: Remote; branch: string },
  signal: AbortSignal,
): Promise<string | null> {
  const name = `refs/heads/${input.branch}`;
  const refs = await listRefs(git, input.remote, [name], signal);
  return refs.ids.get(name) ?? null;
}

/** With one plain request if the server accepts it, otherwise with git, which also reports errors. */
async function listRefs(git: Git, remote: Remote, names: readonly string[], signal: AbortSignal): Promise<RemoteRefs> {
  return (await git.askRefs(remote, names, signal)) ?? listRemote(git, remote, names, signal);
}

/** Branches and tags by full name, selected with git's patterns. */
export async function listRemote(
  git: Git,
  remote: Remote,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<RemoteRefs> {
  const args = ["ls-remote", "--symref", "--", remote.url, ...patterns];
  const result = await git.run({ gitDir: noGitDir, args, remote, timeMsMax, outputBytesMax }, signal);
  if (result.code !== 0) throw unreachable(result);
  const ids = new Map<string, string>();
  let defaultBranch: string | null = null;
  for (const line of result.stdout.toString("utf8").split("\n")) {
    const [left = "", name = ""] = line.split("\t");
    // A pattern also matches the end of longer names.
    if (isObjectId(left)) ids.set(name, left);
    const target = name === "HEAD" ? /^ref: refs\/heads\/(.+)$/.exec(left)?.[1] : undefined;
    if (target !== undefined && isBranchName(target)) defaultBranch = target;
  }
  return { ids, defaultBranch };
}

/** Git's message only decides whether a retry makes sense. */
export function unreachable(result: { words: string; stderr: string }): TreeFault {
  if (isUntrusted(result.stderr)) {
    const what =
      "The repository's certificate is not trusted. Set EMEND_CA_FILE to a file with its certificate authority.";
    return gitError("repository_unavailable", { what, words: result.words });
  }
  const status = httpStatusOf(result.stderr);
  const refused = status !== null && status < 500 && status !== 408 && status !== 429;
  return gitError("repository_unavailable", {
    what: `The repository cannot be reached: ${refused ? advice(status) : "try again later."}`,
    words: result.words,
    retryable: !refused,
  });
}

function advice(status: number): string {
  if (status === 401 || status === 403) return "the project's credential is missing or expired, or has no read access.";
  if (status < 400) return "it has moved. Set its new URL in the project.";
  return "check the project's repository URL, and that its credential covers the repository.";
}

/** Why there is no commit to start from, and what to do. */
async function explain(git: Git, remote: Remote, wanted: string | null, signal: AbortSignal): Promise<TreeFault> {
  const { ids, defaultBranch } = await listRemote(git, remote, ["refs/heads/*"], signal);
  const branches = [...ids.keys()].filter((name) => name.startsWith("refs/heads/")).map((name) => name.slice(11));
  if (branches.length === 0) return unavailable("The repository is empty: push a first commit to it.");
  // The most likely branch first.
  branches.sort((a, b) => Number(b === defaultBranch) - Number(a === defaultBranch));
  const shown = branches.slice(0, namesShownMax).join(", ") + (branches.length > namesShownMax ? ", …" : "");
  if (wanted !== null) {
    return unavailable(`The repository has no branch "${wanted}". Choose another base branch; it has: ${shown}.`);
  }
  const why = defaultBranch === null ? "has no default branch" : `has no commit on its default branch ${defaultBranch}`;
  return unavailable(`The repository ${why}. Set the project's base branch; it has: ${shown}.`);
}

function unavailable(publicMessage: string): TreeFault {
  return new TreeFault("repository_unavailable", { publicMessage });
}

/** Refuses a base branch that does not exist, and lists those that do. If the repository is unreachable, it passes. */
export async function assertBranch(git: Git, remote: Remote, branch: string, signal: AbortSignal): Promise<void> {
  try {
    await resolveBase(git, { remote, baseRef: branch }, signal);
  } catch (error) {
    if (!isFault(error, "repository_unavailable")) throw error;
    if (error.retryable) return;
    throw new TreeFault("invalid_request", { publicMessage: error.publicMessage, cause: error });
  }
}

const folderTimeMsMax = 10_000;
/** Enough for the names of a hundred thousand files. */
const packBytesMax = 32 * 1024 * 1024;
const folderOutputBytesMax = 64 * 1024;
const foldersShownMax = 8;

/**
 * Refuses a docs folder that does not exist, and lists those that do: a job there would find no pages. Passes if the
 * repository is empty or cannot be read cheaply now.
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
  throw new TreeFault("invalid_request", {
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
  // The local forge's repositories are local folders.
  if (remote.url.startsWith("file:")) return lookIn(git, fileURLToPath(remote.url), { branch, commit, folder }, signal);
  const gitDir = await mkdtemp(join(tmpdir(), "emend-look-"));
  try {
    const run = (args: readonly string[], more = {}) =>
      git.must({ gitDir, args, timeMsMax: folderTimeMsMax, outputBytesMax: folderOutputBytesMax, ...more }, signal);
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
    const output = await git.must(
      { gitDir, args, timeMsMax: folderTimeMsMax, outputBytesMax: folderOutputBytesMax },
      signal,
    );
    return output
      .toString("utf8")
      .split("\0")
      .filter((name) => name !== "");
  };
  return { branch, hasFolder: (await foldersOf(folder)).includes(folder), folders: await foldersOf() };
}
