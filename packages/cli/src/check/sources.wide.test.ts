import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inspectFolder } from "./inspect-folder.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "emend-sources-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

let day = 1;
/** A commit in a repository below the folder, a day after the one before. */
function commit(repository: string, message: string, files: Record<string, string | null>): void {
  const root = join(dir, repository);
  mkdirSync(root, { recursive: true });
  const date = `2026-01-${String(day++).padStart(2, "0")}T12:00:00Z`;
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...args], { cwd: root, env });
  git("init", "-q");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    if (content === null) rmSync(join(root, path));
    else writeFileSync(join(root, path), content);
  }
  git("add", "-A");
  git("commit", "-q", "-m", message);
}

async function findings(docs: string, ...sources: string[]): Promise<string[]> {
  const deps = { cache: undefined, stderr: process.stderr, signal: new AbortController().signal };
  const input = { base: null, docsDir: "", isMdxAsked: false, sources: sources.map((name) => join(dir, name)) };
  const { findings: found, notes } = await inspectFolder(deps, join(dir, docs), input);
  const lines = found
    .filter(({ check }) => check !== "orphan-page")
    .map(({ path, line, column, message }) => `${path}:${line}:${column} ${message}`);
  return [...lines, ...notes].map((line) => line.replaceAll(dir, "DIR").replace(/ by [0-9a-f]{7,} /, " by COMMIT "));
}

const page = "# Sync\n\nRun `tool sync --dry-run`, which calls `listJobs()`.\n";
const program = (flag: string) => `program.option("${flag}", "show");\nif (argv.includes("${flag}")) show();\n`;
const before = `${program("--dry-run")}export function listJobs() {}\n`;
const after = program("--preview");
const told = [
  "index.md:3:16 `--dry-run` was renamed to `--preview` by COMMIT (Ann, Rename). Use the new name.",
  "index.md:3:41 `listJobs` is no longer in the sources (src/app.ts had it): removed by COMMIT (Ann, Rename). Correct the page if it means this one.",
];

test("compares a page with the commit that last changed it, where the code is in the same repository", async () => {
  commit("all", "Begin", { "docs/index.md": page, "src/app.ts": before });
  expect(await findings("all/docs", "all")).toEqual([]);
  commit("all", "Rename", { "src/app.ts": after });
  expect(await findings("all/docs", "all")).toEqual(told);
  // The page was edited after the code changed, so it counts as checked.
  commit("all", "Read again", { "docs/index.md": `${page}\nMore.\n` });
  expect(await findings("all/docs", "all")).toEqual([]);
  expect(await findings("all/docs", "all@HEAD~2..HEAD")).toEqual(told);
  expect(await findings("all/docs", "all@HEAD~2")).toEqual([]);
});

test("compares what the code says about options between two named states", async () => {
  const wait = (time: string) => `program.option("--wait", "how long", "${time}");\n`;
  commit("facts", "Begin", { "docs/index.md": "# Wait\n\n`--wait` (default: `30s`)\n", "src/app.ts": wait("30s") });
  commit("facts", "Wait longer", { "src/app.ts": wait("60s") });
  expect(await findings("facts/docs", "facts@HEAD~1..HEAD")).toEqual([
    "index.md:3:1 `--wait` has the default `60s` now, not `30s` (`src/app.ts:1`)",
  ]);
  expect(await findings("facts/docs", "facts")).toEqual([]);
});

test("compares with the code's commit of the page's time, where the code is in another repository", async () => {
  commit("code", "Begin", { "src/app.ts": before });
  commit("docs", "Write", { "index.md": page });
  commit("code", "Rename", { "src/app.ts": after });
  expect(await findings("docs", "code")).toEqual(told);
  // A name that another source still has is not stale.
  commit("other", "Begin", { "src/cli.ts": 'add("--dry-run");\nexport const listJobs = 1;\n' });
  expect(await findings("docs", "code", "other")).toEqual([]);
});

test("sees changes that are not committed, and says where it cannot compare", async () => {
  commit("all", "Begin", { "docs/index.md": page, "src/app.ts": before });
  writeFileSync(join(dir, "all/src/app.ts"), after);
  expect((await findings("all/docs", "all")).map((line) => line.slice(0, 52))).toEqual(
    told.map((line) => line.slice(0, 52)),
  );
  mkdirSync(join(dir, "plain"));
  expect(await findings("all/docs", "plain")).toEqual([
    "DIR/plain is in no git repository: its references were not compared with an earlier state.",
  ]);
});

test("refuses a folder or a commit that is not there", async () => {
  commit("all", "Begin", { "docs/index.md": page });
  await expect(findings("all/docs", "none")).rejects.toThrow("there is no folder");
  await expect(findings("all/docs", "all@none..HEAD")).rejects.toThrow('has no commit "none"');
  await expect(findings("all/docs", "all@..HEAD")).rejects.toThrow("is not a revision");
});
