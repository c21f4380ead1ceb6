import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isBranchName } from "@emend/base/branch-name.ts";
import { nameAsGit } from "@emend/site";
import { AppError } from "../../errors.ts";
import { ask, gitOutput, type Repository, type RepositoryDeps, repositoryOf } from "./repository.ts";
import { findGitDir, openSourceRepository } from "./source-repository.ts";

interface NewRepository {
  projectId: string;
  /** A git repository (all branches and tags) or a plain folder (one commit) to import. Null: start empty. */
  importFrom: string | null;
  /** Whose names the folder has. */
  platform?: NodeJS.Platform;
}

/** Creates a project's repository, completely or not at all. Returns its default branch. */
export async function createLocalRepository(
  deps: RepositoryDeps,
  input: NewRepository,
  signal: AbortSignal,
): Promise<{ defaultBranch: string }> {
  const final = repositoryOf(deps, input.projectId);
  await mkdir(deps.forgeDir, { recursive: true, mode: 0o700 });
  const draft = { git: deps.git, gitDir: join(deps.forgeDir, `.new-${randomBytes(8).toString("hex")}`) };
  try {
    const defaultBranch = await fill(draft, input, signal);
    await rename(draft.gitDir, final.gitDir);
    return { defaultBranch };
  } catch (error) {
    await rm(draft.gitDir, { recursive: true, force: true });
    throw error;
  }
}

async function fill(repository: Repository, input: NewRepository, signal: AbortSignal): Promise<string> {
  const { importFrom, platform = process.platform } = input;
  if (importFrom === null) {
    await initRepository(repository, { defaultBranch: "main", objectFormat: "sha1" }, signal);
    return "main";
  }
  const path = resolve(importFrom);
  const found = await stat(path).catch(() => null);
  if (!found?.isDirectory()) {
    throw new AppError("invalid_request", { publicMessage: `There is no folder ${importFrom} to import.` });
  }
  const gitDir = await findGitDir(path);
  return gitDir === null
    ? importFolder(repository, { path, platform }, signal)
    : importRepository(repository, gitDir, signal);
}

/**
 * Settings for a repository that untrusted clients push to. They are in its config file because git drops configuration
 * from the environment when it starts the other end of a transfer between two folders.
 */
const settings = `
	hooksPath = /dev/null
	logAllRefUpdates = false
	fsmonitor = false
	useReplaceRefs = false
[gc]
	auto = 0
[maintenance]
	auto = false
[transfer]
	fsckObjects = true
[receive]
	autogc = false
	maxInputSize = 2g
	hideRefs = refs/pull
[uploadpack]
	# A job's base is fetched by id when its branch has moved on.
	allowAnySHA1InWant = true
	allowFilter = true
`;

/** An empty bare repository without branches. */
export async function initRepository(
  repository: Repository,
  options: { defaultBranch: string; objectFormat: "sha1" | "sha256" },
  signal: AbortSignal,
): Promise<void> {
  // No template, so not even sample hooks.
  await gitOutput(
    repository,
    [
      "init",
      "--quiet",
      "--bare",
      "--template=",
      `--object-format=${options.objectFormat}`,
      `--initial-branch=${options.defaultBranch}`,
    ],
    signal,
  );
  const isSha256 = options.objectFormat === "sha256";
  const format = `[core]
	repositoryformatversion = ${isSha256 ? 1 : 0}
	filemode = true
	bare = true${settings}${isSha256 ? "[extensions]\n\tobjectFormat = sha256\n" : ""}`;
  await writeFile(join(repository.gitDir, "config"), format);
}

const filesMax = 100_000;
const bytesMax = 1024 * 1024 * 1024;
const fileBytesMax = 64 * 1024 * 1024;
const importFolderMsMax = 10 * 60_000;

interface Folder {
  path: string;
  platform: NodeJS.Platform;
}

/** One commit with a plain folder's files, without what .gitignore excludes. The folder is only read. */
async function importFolder(repository: Repository, folder: Folder, signal: AbortSignal): Promise<string> {
  const branch = "main";
  await initRepository(repository, { defaultBranch: branch, objectFormat: "sha1" }, signal);
  const paths = await listFiles(repository, folder.path, signal);
  if (paths.length > 0) await commitEntries(repository, readFolder(folder, paths), branch, signal);
  return branch;
}

export interface Entry {
  path: Buffer;
  mode: string;
  content: Buffer;
}

/** One commit with these files, as the first of a branch. */
export async function commitEntries(
  repository: Repository,
  entries: Iterable<Entry>,
  branch: string,
  signal: AbortSignal,
): Promise<void> {
  let fault: unknown = null;
  // A read error ends git's input. Git's own error about that would hide it.
  function* readFaithfully() {
    try {
      yield* importStream(entries, branch);
    } catch (error) {
      fault = error;
    }
  }
  const { git, gitDir } = repository;
  const command = {
    gitDir,
    // Without `done` at the end, a truncated stream would look complete.
    args: ["fast-import", "--quiet", "--done"],
    input: readFaithfully(),
    timeMsMax: importFolderMsMax,
    outputBytesMax: 1_024,
  };
  const { code, words } = await git.run(command, signal);
  if (fault !== null) throw fault;
  if (code !== 0) throw refusal(words);
}

/** Lets git interpret .gitignore, with our repository instead of one in the folder. Paths are bytes. */
async function listFiles(repository: Repository, folder: string, signal: AbortSignal): Promise<readonly Buffer[]> {
  const standard = ["--others", "--exclude-standard", "--exclude=.git", "--exclude=node_modules"];
  const output = await repository.git.must(
    {
      gitDir: repository.gitDir,
      args: [`--work-tree=${folder}`, "ls-files", "-z", ...standard],
      timeMsMax: importFolderMsMax,
      outputBytesMax: 64 * 1024 * 1024,
    },
    signal,
  );
  const paths = output.toString("latin1").split("\0");
  // A nested repository is listed as a folder. It is left out, as in git.
  const files = paths.filter((path) => path !== "" && !path.endsWith("/"));
  if (files.length > filesMax) throw refusal(`it has ${files.length} files, and ${filesMax} is the most`);
  return files.map((path) => Buffer.from(path, "latin1"));
}

/** Reads one file at a time, however large the folder is. */
function* readFolder(folder: Folder, paths: readonly Buffer[]): Generator<Entry> {
  for (const path of paths) {
    const file = readEntry(Buffer.concat([Buffer.from(`${folder.path}/`), path]));
    if (file) yield { path: pathAsGit(path, folder), ...file };
  }
}

function* importStream(entries: Iterable<Entry>, branch: string): Generator<Buffer | string> {
  const message = "Import the documentation\n";
  const seconds = Math.floor(Date.now() / 1000);
  yield `commit refs/heads/${branch}\ncommitter Emend <noreply@emend.invalid> ${seconds} +0000\n`;
  yield `data ${Buffer.byteLength(message)}\n${message}`;
  let bytes = 0;
  for (const { path, mode, content } of entries) {
    bytes += content.length;
    if (bytes > bytesMax) throw refusal("its files come to more than 1 GiB");
    yield* [`M ${mode} inline `, quotePath(path), `\ndata ${content.length}\n`, content, "\n"];
  }
  yield "done\n";
}

/** Links are kept as links and never followed. Sockets and the like are left out. */
function readEntry(path: Buffer): { mode: string; content: Buffer } | null {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return { mode: "120000", content: readlinkSync(path, "buffer") };
  if (!stat.isFile()) return null;
  if (stat.size > fileBytesMax) throw refusal("one of its files has more than 64 MiB");
  return { mode: stat.mode & 0o100 ? "100755" : "100644", content: readFileSync(path) };
}

function pathAsGit(path: Buffer, { platform }: Folder): Buffer {
  return isUtf8(path) ? Buffer.from(nameAsGit(path.toString(), platform)) : path;
}

function quotePath(path: Buffer): Buffer {
  const quoted = path.toString("latin1").replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return Buffer.from(`"${quoted}"`, "latin1");
}

function refusal(why: string): AppError {
  return new AppError("invalid_request", { publicMessage: `The folder cannot be imported: ${why}.` });
}

const importMsMax = 30 * 60_000;

/** Imports all branches and tags of a repository, which is only read. Returns the default branch. */
async function importRepository(repository: Repository, sourceGitDir: string, signal: AbortSignal): Promise<string> {
  const source = await openSourceRepository(sourceGitDir);
  try {
    const head = source.headBranch !== null && isBranchName(source.headBranch) ? source.headBranch : "main";
    await initRepository(repository, { defaultBranch: head, objectFormat: source.objectFormat }, signal);
    const url = pathToFileURL(source.gitDir).href;
    const { git, gitDir } = repository;
    const fetched = await git.run(
      {
        gitDir,
        args: [
          "fetch",
          "--quiet",
          "--no-auto-gc",
          "--no-write-fetch-head",
          "--",
          url,
          "+refs/heads/*:refs/heads/*",
          "+refs/tags/*:refs/tags/*",
        ],
        remote: { url, authorization: null },
        timeMsMax: importMsMax,
        outputBytesMax: 1_024,
      },
      signal,
    );
    if (fetched.code !== 0) {
      const words = fetched.words.replaceAll(source.gitDir, "the repository");
      throw new AppError("repository_unavailable", { publicMessage: `The repository cannot be imported: ${words}.` });
    }
    return settleDefaultBranch(repository, head, signal);
  } finally {
    await source.dispose();
  }
}

/** HEAD may name a missing branch, or none (detached). Then the most likely branch is used. */
export async function settleDefaultBranch(repository: Repository, head: string, signal: AbortSignal): Promise<string> {
  const { output } = await ask(repository, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"], signal);
  const branches = output.split("\n").filter((name) => name !== "");
  const chosen = [head, "main", "master", ...branches].find((name) => branches.includes(name)) ?? head;
  if (chosen !== head) await gitOutput(repository, ["symbolic-ref", "HEAD", `refs/heads/${chosen}`], signal);
  return chosen;
}

/** Whether the repository has no branch. */
export async function isEmptyRepository(repository: Repository, signal: AbortSignal): Promise<boolean> {
  return (await gitOutput(repository, ["for-each-ref", "--count=1", "refs/heads"], signal)) === "";
}

/** Null if HEAD names no branch. */
export async function readDefaultBranch(repository: Repository, signal: AbortSignal): Promise<string | null> {
  // Not --short: beside a tag of the same name that is `heads/main`.
  const { code, output } = await ask(repository, ["symbolic-ref", "HEAD"], signal);
  return code === 0 ? output.trim().replace(/^refs\/heads\//, "") : null;
}
