import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const leftOut = new Set(["node_modules", "dist", ".git", "screenshots"]);

/** A copy of the sources that shares the installed packages, so that no checkout is ever without a guard. */
export function copyOfSources(): string {
  const copy = mkdtempSync(join(tmpdir(), "emend-mutants-"));
  const isSource = (path: string) => !leftOut.has(basename(path));
  const files = ["README.md", "ARCHITECTURE.md", "package.json", "tsconfig.json", "vitest.config.ts"];
  for (const name of ["packages", "scripts", "docs", "action", ...files]) {
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: isSource });
  }
  shareAllModules(copy);
  return copy;
}

/**
 * The sources of an earlier commit with the packages that are installed now. Without `revision`, of the commit before the
 * newest migration: the release that the next one replaces.
 */
export function sourcesOf(revision?: string): { copy: string; commit: string } {
  // A copy of the sources has no history of its own.
  const cwd = process.env.SOURCES_REPOSITORY ?? root;
  const git = (...args: string[]) => execFileSync("git", args, { cwd, maxBuffer: 2 ** 30 });
  const migrations = "packages/server/src/db/migrations";
  const added = () => git("log", "--diff-filter=A", "--topo-order", "-1", "--format=%H", "--", migrations);
  let commit: string;
  try {
    commit = git("rev-parse", "--verify", `${revision ?? `${added().toString().trim()}^`}^{commit}`)
      .toString()
      .trim();
  } catch (cause) {
    throw new Error("This needs the repository's history. Clone it in full, or run git fetch --unshallow.", { cause });
  }
  const copy = mkdtempSync(join(tmpdir(), "emend-earlier-"));
  execFileSync("tar", ["-x", "-C", copy], { input: git("archive", commit, "packages", "scripts", "package.json") });
  shareAllModules(copy);
  return { copy, commit };
}

function shareAllModules(copy: string): void {
  shareModules("node_modules", copy);
  for (const name of readdirSync(join(root, "packages"))) shareModules(join("packages", name, "node_modules"), copy);
}

/** Links to installed packages, except the workspace's own, which are the copy's. */
function shareModules(folder: string, copy: string): void {
  let names: string[];
  try {
    names = readdirSync(join(root, folder));
  } catch {
    return;
  }
  mkdirSync(join(copy, folder), { recursive: true });
  for (const name of names) {
    if (name === ".cache") continue;
    if (name !== "@emend") {
      symlinkSync(join(root, folder, name), join(copy, folder, name));
      continue;
    }
    mkdirSync(join(copy, folder, name));
    for (const own of readdirSync(join(root, folder, name))) {
      symlinkSync(join(copy, "packages", own), join(copy, folder, name, own));
    }
  }
}

export interface SourceChange {
  file: string;
  /** Text that the file contains exactly once. */
  find: string;
  replace: string;
}

/** The file's text after a change. Throws if the text to find is not there exactly once. */
export function changedSource(folder: string, { file, find, replace }: SourceChange): string {
  const source = readFileSync(join(folder, file), "utf8");
  const times = source.split(find).length - 1;
  if (times !== 1) throw new Error(`its text stands ${times} times in ${file}`);
  return source.replace(find, () => replace);
}

/** Changes a copy and returns a function that undoes it. */
export function changeSource(copy: string, change: SourceChange): () => void {
  const path = join(copy, change.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, changedSource(copy, change));
  return () => writeFileSync(path, source);
}
