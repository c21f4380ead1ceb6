import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type FileChange, historyArgs, parseHistory } from "@emend/site";
import { TreeFault } from "../faults.ts";
import type { Git } from "../git/git.ts";
import type { Remote } from "../mirror/mirror.ts";

const commitsMax = 10;
/** How many commits to fetch. Trees without blobs are small, but not free. */
const depthMax = 300;
const timeMsMax = 20_000;
const packBytesMax = 32 * 1024 * 1024;
const outputBytesMax = 64 * 1024;
const messageCharactersMax = 300;
/** The limit for local repositories. Others have no more than was fetched. */
const siteCommitsMax = 20_000;
const siteOutputBytesMax = 64 * 1024 * 1024;

interface PageCommit {
  id: string;
  date: string;
  author: string;
  /** The message's first line. */
  subject: string;
  message: string;
}

/** A branch's newest commits that touched a file. Empty if it was not touched recently. */
export type PageHistory = (
  input: { remote: Remote; branch: string; path: string },
  signal: AbortSignal,
) => Promise<readonly PageCommit[]>;

/**
 * Mirrors hold one commit and must never become partial clones, so history is fetched into a separate repository,
 * without blobs.
 */
export function createPageHistory(deps: HistoryDeps): PageHistory {
  return async ({ remote, branch, path }, signal) => {
    try {
      return await withHistory(deps, { remote, branch, ...folders }, signal, async ({ gitDir, ref, shallow }) => {
        const commits = await logOf(deps.git, gitDir, ref, path, signal);
        // The oldest fetched commit has no parent here, so it seems to have created every file. It is left out.
        return commits.filter(({ id }) => !shallow.includes(id));
      });
    } catch (error) {
      signal.throwIfAborted();
      const publicMessage = "The history of this repository cannot be read now. Continue without it.";
      throw new TreeFault("invalid_request", { publicMessage, cause: error });
    }
  };
}

/** One commit of a branch with its patch. Null if the branch's newest commits do not have it. */
export type CommitReader = (
  input: { remote: Remote; branch: string; commit: string; path: string },
  signal: AbortSignal,
) => Promise<string | null>;

const shownBytesMax = 512 * 1024;

export function createCommitReader(deps: HistoryDeps): CommitReader {
  return async ({ remote, branch, commit, path }, signal) => {
    try {
      return await withHistory(deps, { remote, branch, ...folders }, signal, async ({ gitDir, ref, shallow }) => {
        const ask = (args: readonly string[]) => deps.git.run({ gitDir, args, timeMsMax, outputBytesMax }, signal);
        const id = (await ask(["rev-parse", "--verify", "--quiet", `${commit}^{commit}`])).stdout.toString().trim();
        // A local folder has other branches, too. The oldest fetched commit has no parent to compare it with.
        if (id === "" || shallow.includes(id)) return null;
        if ((await ask(["merge-base", "--is-ancestor", id, ref])).code !== 0) return null;
        if (remote.url.startsWith("file:")) return showOf(deps.git, gitDir, id, path, signal);
        // Again, with the files: what was fetched without them cannot be completed.
        const whole = { remote, ref: id, depth: 2, timeMsMax, packBytesMax };
        return await withFetched(deps, whole, signal, (fetched) => showOf(deps.git, fetched.gitDir, id, path, signal));
      });
    } catch (error) {
      signal.throwIfAborted();
      const publicMessage = "This commit cannot be read now. Continue without it.";
      throw new TreeFault("invalid_request", { publicMessage, cause: error });
    }
  };
}

async function showOf(git: Git, gitDir: string, id: string, path: string, signal: AbortSignal): Promise<string> {
  const format = "--format=%h %as %an%n%n%B";
  const only = path === "" ? [] : [`:(literal)${path}`];
  const args = ["show", "--no-color", "--no-ext-diff", "--no-textconv", "--first-parent", format, id, "--", ...only];
  const { stdout } = await git.run({ gitDir, args, timeMsMax, outputBytesMax: shownBytesMax }, signal);
  return stdout.toString("utf8").trim();
}

/** When each file of a branch last changed. Empty if unavailable. */
export type SiteHistory = (
  input: { remote: Remote; branch: string },
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, FileChange>>;

export function createSiteHistory(deps: HistoryDeps): SiteHistory {
  return async (input, signal) => {
    try {
      return await withHistory(deps, { ...input, ...folders }, signal, async ({ gitDir, ref, shallow }) => {
        const args = [...historyArgs, `--max-count=${siteCommitsMax}`, ref, "--"];
        const log = await deps.git.must({ gitDir, args, timeMsMax, outputBytesMax: siteOutputBytesMax }, signal);
        return parseHistory(log.toString("utf8"), shallow);
      });
    } catch {
      signal.throwIfAborted();
      return new Map();
    }
  };
}

/** The oldest of a branch's newest commits, of so many days and at most so many. Null if it cannot be read. */
export type RecentStart = (
  input: { remote: Remote; branch: string; days: number; commitsMax: number },
  signal: AbortSignal,
) => Promise<string | null>;

export function createRecentStart(deps: HistoryDeps): RecentStart {
  return async ({ remote, branch, days, commitsMax: depth }, signal) => {
    try {
      const input = { remote, branch, depth, filter: "tree:0", timeMsMax, packBytesMax } as const;
      return await withHistory(deps, input, signal, async ({ gitDir, ref }) => {
        const args = [
          "log",
          "--first-parent",
          `--max-count=${depth}`,
          `--since=${days}.days`,
          "--format=%H",
          ref,
          "--",
        ];
        const log = await deps.git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
        return log.toString("utf8").trim().split("\n").at(-1) || null;
      });
    } catch {
      signal.throwIfAborted();
      return null;
    }
  };
}

/** The email addresses of the authors of each file's newest commits, as often as there are commits. */
export type CodeAuthors = (
  input: { remote: Remote; commit: string; paths: readonly string[] },
  signal: AbortSignal,
) => Promise<readonly string[]>;

export function createCodeAuthors(deps: HistoryDeps): CodeAuthors {
  return async ({ remote, commit, paths }, signal) => {
    async function read({ gitDir, ref, shallow }: Fetched): Promise<readonly string[]> {
      const emails: string[] = [];
      for (const path of paths) {
        const limits = [`--max-count=${commitsMax}`, "--no-merges", "--format=%H %ae"];
        const args = ["log", ...limits, ref, "--", `:(literal)${path}`];
        const log = await deps.git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
        const lines = log
          .toString("utf8")
          .split("\n")
          .map((line) => line.split(" "));
        emails.push(...lines.flatMap(([id = "", email = ""]) => (email === "" || shallow.includes(id) ? [] : [email])));
      }
      return emails;
    }
    if (remote.url.startsWith("file:")) return read({ gitDir: fileURLToPath(remote.url), ref: commit, shallow: "" });
    return withFetched(deps, { remote, ref: commit, ...folders }, signal, read);
  };
}

interface HistoryDeps {
  git: Git;
  dir: string;
}

interface HistoryInput {
  remote: Remote;
  branch: string;
  depth: number;
  filter: "blob:none" | "tree:0";
  timeMsMax: number;
  packBytesMax: number;
}

/** Trees without blobs. */
const folders = { depth: depthMax, filter: "blob:none", timeMsMax, packBytesMax } as const;

interface Fetched {
  gitDir: string;
  ref: string;
  shallow: string;
}

/** Fetches some history of a branch into a temporary repository. */
async function withHistory<T>(
  deps: HistoryDeps,
  { branch, ...input }: HistoryInput,
  signal: AbortSignal,
  use: (history: Fetched) => Promise<T>,
): Promise<T> {
  const ref = `refs/heads/${branch}`;
  // The local forge's repositories are local folders with full history.
  if (input.remote.url.startsWith("file:")) return use({ gitDir: fileURLToPath(input.remote.url), ref, shallow: "" });
  return withFetched(deps, { ...input, ref }, signal, use);
}

async function withFetched<T>(
  { git, dir }: HistoryDeps,
  input: Omit<HistoryInput, "branch" | "filter"> & { ref: string; filter?: HistoryInput["filter"] },
  signal: AbortSignal,
  use: (history: Fetched) => Promise<T>,
): Promise<T> {
  const { remote, ref, depth, filter, timeMsMax, packBytesMax } = input;
  // This name lets the mirrors' sweep remove it if this process is killed.
  const gitDir = join(dir, `history.git.new-${randomBytes(6).toString("hex")}`);
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const run = (args: readonly string[], more = {}) =>
      git.must({ gitDir, args, timeMsMax, outputBytesMax, ...more }, signal);
    await run(["init", "--quiet", "--bare", gitDir]);
    const limits = [`--depth=${depth}`, "--no-tags", "--no-write-fetch-head", "--quiet"];
    if (filter) limits.push(`--filter=${filter}`);
    await run(["fetch", ...limits, "--", remote.url, `${ref}:refs/history`], { remote, fileBytesMax: packBytesMax });
    const shallow = await readFile(join(gitDir, "shallow"), "utf8").catch(() => "");
    return await use({ gitDir, ref: "refs/history", shallow });
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function logOf(
  git: Git,
  gitDir: string,
  ref: string,
  path: string,
  signal: AbortSignal,
): Promise<readonly PageCommit[]> {
  const format = "--format=%x01%H%x00%as%x00%an%x00%s%x00%B";
  const args = ["log", `--max-count=${commitsMax}`, "--no-merges", format, ref, "--", `:(literal)${path}`];
  const output = await git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
  return output
    .toString("utf8")
    .split("\x01")
    .slice(1)
    .map((record) => {
      const [id = "", date = "", author = "", subject = "", message = ""] = record.split("\0");
      const shown = message.trim().replaceAll(/\s+/g, " ").slice(0, messageCharactersMax);
      return { id, date, author, subject, message: shown };
    });
}

const subjectsMax = 30;
const subjectsTimeMsMax = 10_000;
/** Thirty commits without trees take a few kilobytes. A server that cannot omit trees is not waited for. */
const subjectsPackBytesMax = 4 * 1024 * 1024;
const subjectsOutputBytesMax = 64 * 1024;
const rememberedMax = 500;
const rememberedMs = 60 * 60_000;

/** The subjects of a branch's newest commits. Empty if they cannot be read cheaply. Never fails. */
export type RecentSubjects = (
  input: { remote: Remote; branch: string },
  signal: AbortSignal,
) => Promise<readonly string[]>;

/**
 * Mirrors hold one commit and must never become partial clones, so history is fetched separately with git, without
 * trees and blobs.
 */
export function createRecentSubjects(deps: HistoryDeps): RecentSubjects {
  const remembered = new Map<string, { at: number; subjects: readonly string[] }>();
  return async ({ remote, branch }, signal) => {
    const key = `${remote.url} ${branch}`;
    const known = remembered.get(key);
    if (known && performance.now() - known.at < rememberedMs) return known.subjects;
    const subjects = await readSubjects(deps, remote, branch, signal).catch(() => {
      signal.throwIfAborted();
      return [];
    });
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(key, { at: performance.now(), subjects });
    return subjects;
  };
}

function readSubjects(
  deps: HistoryDeps,
  remote: Remote,
  branch: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const limits = { timeMsMax: subjectsTimeMsMax, packBytesMax: subjectsPackBytesMax };
  return withHistory(
    deps,
    { remote, branch, depth: subjectsMax, filter: "tree:0", ...limits },
    signal,
    ({ gitDir, ref }) => subjectsLogOf(deps.git, gitDir, ref, signal),
  );
}

async function subjectsLogOf(git: Git, gitDir: string, ref: string, signal: AbortSignal): Promise<readonly string[]> {
  const args = ["log", `--max-count=${subjectsMax}`, "--no-merges", "--format=%s", ref, "--"];
  const output = await git.must(
    { gitDir, args, timeMsMax: subjectsTimeMsMax, outputBytesMax: subjectsOutputBytesMax },
    signal,
  );
  return output
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
}
