import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runProgramSync } from "./run-program.ts";

/** A file's bytes, or bytes with a mode. A submodule is a commit id, and null deletes. */
export type RepositoryFile =
  | string
  | Buffer
  | null
  | { mode: string; content: string | Buffer }
  | { submodule: string };

export interface TestRepository {
  path: string;
  /** For `allowedProtocols: ["file"]`. */
  url: string;
  /** Adds a commit to a branch and returns its id. Paths may be bytes that are not UTF-8. */
  commit(
    files: Record<string, RepositoryFile> | Map<string | Buffer, RepositoryFile>,
    options?: { branch?: string; from?: string | null; email?: string },
  ): string;
  git(...args: string[]): string;
  /** The same, with standard input. */
  gitWith(input: string, ...args: string[]): string;
}

/** A bare repository. Each commit takes one process. `from: null` starts an unrelated history. */
export function makeRepository(
  path: string,
  options: { branch?: string; objectFormat?: "sha1" | "sha256" } = {},
): TestRepository {
  const { branch: firstBranch = "main", objectFormat = "sha1" } = options;
  cpSync(emptyRepository(objectFormat, firstBranch), path, { recursive: true });
  let clock = 1_700_000_000;

  function git(...args: string[]): string {
    return run([`--git-dir=${path}`, ...args])
      .toString("utf8")
      .trim();
  }

  return {
    path,
    url: pathToFileURL(path).href,
    git,
    gitWith: (input, ...args) =>
      run([`--git-dir=${path}`, ...args], Buffer.from(input))
        .toString("utf8")
        .trim(),
    commit(files, { branch = firstBranch, from, email = "test@example.com" } = {}) {
      clock += 1;
      const ref = `refs/heads/${branch}`;
      const known = readRef(path, ref);
      const parent = from === undefined ? known : (from ?? "");
      const stream: Buffer[] = [];
      const write = (...parts: (string | Buffer)[]) => stream.push(...parts.map((part) => Buffer.from(part)));
      if (parent === "" && known !== "") write(`reset ${ref}\n\n`);
      write(`commit ${ref}\nmark :1\ncommitter Test <${email}> ${clock} +0000\ndata 5\ntest\n\n`);
      if (parent !== "") write(`from ${parent}\n`);
      for (const [name, file] of files instanceof Map ? files : Object.entries(files)) write(...change(name, file));
      write("get-mark :1\ndone\n");
      return run([`--git-dir=${path}`, "fast-import", "--quiet", "--force", "--done"], Buffer.concat(stream))
        .toString("utf8")
        .trim();
    },
  };
}

const emptyRepositories = new Map<string, string>();
process.once("exit", () => {
  for (const dir of emptyRepositories.values()) rmSync(dir, { recursive: true, force: true });
});

/** Made once and copied: a copy costs less than a process, which a large test process takes long to fork. */
function emptyRepository(objectFormat: string, branch: string): string {
  const key = `${objectFormat} ${branch}`;
  const known = emptyRepositories.get(key);
  if (known !== undefined) return known;
  const dir = mkdtempSync(join(tmpdir(), "emend-empty-"));
  run(["init", "--bare", "--quiet", `--object-format=${objectFormat}`, `--initial-branch=${branch}`, dir]);
  emptyRepositories.set(key, dir);
  return dir;
}

function readRef(path: string, ref: string): string {
  if (existsSync(join(path, ref))) return readFileSync(join(path, ref), "utf8").trim();
  if (!existsSync(join(path, "packed-refs"))) return "";
  const packed = readFileSync(join(path, "packed-refs"), "utf8").split("\n");
  return packed.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0] ?? "";
}

function change(name: string | Buffer, file: RepositoryFile): (string | Buffer)[] {
  const path = quote(Buffer.from(name));
  if (file === null) return [`D ${path}\n`];
  if (typeof file === "object" && "submodule" in file) return [`M 160000 ${file.submodule} ${path}\n`];
  const { mode, content } =
    typeof file === "string" || Buffer.isBuffer(file) ? { mode: "100644", content: file } : file;
  const bytes = Buffer.from(content);
  return [`M ${mode} inline ${path}\ndata ${bytes.length}\n`, bytes, "\n"];
}

function quote(path: Buffer): string {
  return `"${[...path].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}"`;
}

function run(args: readonly string[], input = Buffer.alloc(0)): Buffer {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const result = runProgramSync("git", args, { input, env });
  if (result.status === 0) return result.stdout;
  throw new Error(`git ${args.join(" ")} failed: ${result.stderr.toString()}`);
}

/** A docs site of any size, deterministic for its arguments: pages of about four kilobytes in nested folders. */
export function generatePages(count: number): Record<string, RepositoryFile> {
  const pages: Record<string, RepositoryFile> = {};
  let seed = 1;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % below;
  };
  for (let page = 0; page < count; page += 1) {
    const paragraphs = Array.from({ length: 40 }, () => {
      const words = Array.from({ length: 14 }, () => `word${next(4_000)}`);
      return `${words.join(" ")}, see [page](/section-${next(40)}/page-${next(count)}).`;
    });
    const path = `docs/section-${page % 40}/part-${Math.floor(page / 40) % 20}/page-${page}.md`;
    pages[path] = `---\ntitle: Page ${page}\n---\n\n# Page ${page}\n\n${paragraphs.join("\n\n")}\n`;
  }
  return pages;
}
