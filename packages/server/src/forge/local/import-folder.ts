import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { resolve } from "node:path";
import { AppError } from "../../errors.ts";
import { initRepository } from "./init-repository.ts";
import type { Repository } from "./repository.ts";

const filesMax = 100_000;
const bytesMax = 1024 * 1024 * 1024;
const fileBytesMax = 64 * 1024 * 1024;
const importMsMax = 10 * 60_000;

/** One commit of a plain folder's files, less what its .gitignore names. The folder is only read. */
export async function importFolder(repository: Repository, folder: string, signal: AbortSignal): Promise<string> {
  const branch = "main";
  await initRepository(repository, { defaultBranch: branch, objectFormat: "sha1" }, signal);
  const paths = await listFiles(repository, resolve(folder), signal);
  if (paths.length === 0) return branch;
  let fault: unknown = null;
  // A fault while reading ends git's input, and git's complaint about that would hide it.
  function* readFaithfully() {
    try {
      yield* importStream(resolve(folder), paths, branch);
    } catch (error) {
      fault = error;
    }
  }
  const { git, gitDir } = repository;
  const command = {
    gitDir,
    // Without `done` at its end, a stream that was cut off would pass for a whole one.
    args: ["fast-import", "--quiet", "--done"],
    input: readFaithfully(),
    timeMsMax: importMsMax,
    outputBytesMax: 1_024,
  };
  const { code, words } = await git.run(command, signal);
  if (fault !== null) throw fault;
  if (code !== 0) throw refusal(words);
  return branch;
}

/** Git's own reading of .gitignore, with our repository in place of any that the folder may hold. Paths are bytes. */
async function listFiles(repository: Repository, folder: string, signal: AbortSignal): Promise<readonly Buffer[]> {
  const standard = ["--others", "--exclude-standard", "--exclude=.git", "--exclude=node_modules"];
  const output = await repository.git.must(
    {
      gitDir: repository.gitDir,
      args: [`--work-tree=${folder}`, "ls-files", "-z", ...standard],
      timeMsMax: importMsMax,
      outputBytesMax: 64 * 1024 * 1024,
    },
    signal,
  );
  const paths = output.toString("latin1").split("\0");
  // A nested repository is listed as a folder: it stays out, as it does in git.
  const files = paths.filter((path) => path !== "" && !path.endsWith("/"));
  if (files.length > filesMax) throw refusal(`it has ${files.length} files, and ${filesMax} is the most`);
  return files.map((path) => Buffer.from(path, "latin1"));
}

/** Reads one file at a time, whatever the folder holds. */
function* importStream(folder: string, paths: readonly Buffer[], branch: string): Generator<Buffer | string> {
  const message = "Import the documentation\n";
  const seconds = Math.floor(Date.now() / 1000);
  yield `commit refs/heads/${branch}\ncommitter Emend <noreply@emend.invalid> ${seconds} +0000\n`;
  yield `data ${Buffer.byteLength(message)}\n${message}`;
  let bytes = 0;
  for (const path of paths) {
    const file = readEntry(Buffer.concat([Buffer.from(`${folder}/`), path]));
    if (!file) continue;
    bytes += file.content.length;
    if (bytes > bytesMax) throw refusal("its files come to more than 1 GiB");
    yield* [`M ${file.mode} inline `, quotePath(path), `\ndata ${file.content.length}\n`, file.content, "\n"];
  }
  yield "done\n";
}

/** Links are kept as links and never followed; sockets and the like stay out. */
function readEntry(path: Buffer): { mode: string; content: Buffer } | null {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return { mode: "120000", content: readlinkSync(path, "buffer") };
  if (!stat.isFile()) return null;
  if (stat.size > fileBytesMax) throw refusal("one of its files has more than 64 MiB");
  return { mode: stat.mode & 0o100 ? "100755" : "100644", content: readFileSync(path) };
}

function quotePath(path: Buffer): Buffer {
  const quoted = path.toString("latin1").replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return Buffer.from(`"${quoted}"`, "latin1");
}

function refusal(why: string): AppError {
  return new AppError("invalid_request", { publicMessage: `The folder cannot be imported: ${why}.` });
}
