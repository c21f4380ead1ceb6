import { isBranchName } from "@emend/base/branch-name.ts";
import type { Remote } from "@emend/tree";
import { AppError } from "../../errors.ts";
import { commitEntries, isEmptyRepository, settleDefaultBranch } from "./create-repository.ts";
import { ask, type Repository } from "./repository.ts";

export interface GivenFile {
  path: string;
  content: Buffer;
}

/** Files that a person chose or a template has, or a public repository. */
export type FillSource = { kind: "files"; files: readonly GivenFile[] } | { kind: "git"; remote: Remote };

const filesMax = 20_000;
const pathBytesMax = 1_000;
const fetchMsMax = 4 * 60_000;

/** Gives an empty repository its first content. One that has a branch is not changed. */
export async function fillRepository(
  repository: Repository,
  source: FillSource,
  signal: AbortSignal,
): Promise<{ files: number | null }> {
  if (!(await isEmptyRepository(repository, signal))) {
    throw new AppError("conflict", { publicMessage: "This repository has commits already, so nothing is imported." });
  }
  if (source.kind === "git") {
    await fetchAll(repository, source.remote, signal);
    return { files: null };
  }
  const files = source.files.filter(({ path }) => !isLeftOut(path));
  if (files.length === 0) throw refused("There are no files to import.");
  if (files.length > filesMax) throw refused(`There are ${files.length} files, and ${filesMax} is the most.`);
  const wrong = files.find(({ path }) => !isPath(path));
  if (wrong) throw refused(`${JSON.stringify(wrong.path.slice(0, 200))} is not the path of a file.`);
  const entries = files.map(({ path, content }) => ({ path: Buffer.from(path), mode: "100644", content }));
  await commitEntries(repository, entries, "main", signal);
  return { files: files.length };
}

/** What no docs repository should have. */
function isLeftOut(path: string): boolean {
  const parts = path.split("/");
  return parts.includes("node_modules") || parts.includes(".git") || parts.at(-1) === ".DS_Store";
}

function isPath(path: string): boolean {
  const isSafe = path
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && !/^\.git$/i.test(part));
  return isSafe && Buffer.byteLength(path) <= pathBytesMax && !/[\p{Cc}\\]/u.test(path) && path.isWellFormed();
}

/** All branches and tags of a public repository. */
async function fetchAll(repository: Repository, remote: Remote, signal: AbortSignal): Promise<void> {
  const { git, gitDir } = repository;
  const run = (args: readonly string[]) =>
    git.run({ gitDir, args, remote, timeMsMax: fetchMsMax, outputBytesMax: 64 * 1024 }, signal);
  const asked = await run(["ls-remote", "--symref", "--", remote.url, "HEAD"]);
  if (asked.code !== 0) throw unreadable(asked.words);
  const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(asked.stdout.toString("utf8"))?.[1] ?? "main";
  const refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  const fetched = await run(["fetch", "--quiet", "--no-auto-gc", "--no-write-fetch-head", "--", remote.url, ...refs]);
  if (fetched.code !== 0) throw unreadable(fetched.words);
  if (isBranchName(head)) await ask(repository, ["symbolic-ref", "HEAD", `refs/heads/${head}`], signal);
  await settleDefaultBranch(repository, head, signal);
}

function unreadable(words: string): AppError {
  const publicMessage = `This address can't be imported. Only public repositories can. Git says: ${words.slice(0, 300)}`;
  return new AppError("invalid_request", { publicMessage });
}

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
