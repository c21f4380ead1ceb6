import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkSite, openSite } from "@emend/site";
import { afterEach, beforeEach, expect, it } from "vitest";
import { gitTree, workTree } from "./git-tree.ts";

const config = 'export default { locales: { root: { label: "English" }, fr: { label: "French" } } };\n';
let dir = "";
let seconds = 1_750_000_000;

function git(...args: string[]): string {
  const date = `${seconds++} +0000`;
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  return execFileSync("git", ["-C", dir, "-c", "user.name=T", "-c", "user.email=t@t", ...args], { env }).toString();
}

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
}

async function commit(files: Record<string, string>): Promise<string> {
  await write(files);
  git("add", ".");
  git("commit", "-qm", "x");
  return git("rev-parse", "HEAD").slice(0, 9);
}

async function stale(tree = workTree(dir)): Promise<string[]> {
  const found = await checkSite(await openSite(tree));
  return found.filter(({ check }) => check === "stale-translation").map(({ path, message }) => `${path}: ${message}`);
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-stale-"));
  await write({ ".vitepress/config.mts": config, ".emend/check.json": '{"checks":{"stale-translation":"warning"}}' });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it("names translations whose page changed after them, with both commits", async () => {
  // Outside a repository there is no history, so there is no finding.
  await write({ "a.md": "# A\n", "fr/a.md": "# A\n", "b.md": "# B\n", "fr/b.md": "# B\n" });
  expect(await stale()).toEqual([]);
  git("init", "-q");
  const first = await commit({});
  expect(await stale()).toEqual([]);
  const second = await commit({ "a.md": "# A\n\nMore.\n", "b.md": "# B\n\nMore.\n", "fr/b.md": "# B\n\nPlus.\n" });
  const message = `This page translates \`a.md\`, which changed later (2025-06-15, commit ${second}; this page: 2025-06-15, commit ${first}); translate what changed.`;
  expect(await stale()).toEqual([`fr/a.md: ${message}`]);
  expect(await stale(await gitTree(dir, first))).toEqual([]);
  // A moved file keeps its age. A file with uncommitted edits is new.
  git("mv", "fr", "tmp");
  git("commit", "-qm", "away");
  git("mv", "tmp", "fr");
  await commit({});
  expect(await stale()).toEqual([`fr/a.md: ${message}`]);
  await write({ "fr/a.md": "# A\n\nPlus.\n", "b.md": "# B\n\nEven more.\n" });
  expect((await stale()).map((line) => line.replace(/commit \w+/g, "commit"))).toEqual([
    "fr/b.md: This page translates `b.md`, which changed later (not committed yet; this page: 2025-06-15, commit); translate what changed.",
  ]);
});

it("says of a shallow clone's oldest commit that a page may be older, and is off unless it is set", async () => {
  git("init", "-q");
  await commit({ "a.md": "# A\n", "fr/a.md": "# A\n" });
  await commit({ "c.md": "# C\n" });
  await commit({ "a.md": "# A\n\nMore.\n" });
  const whole = dir;
  dir = join(whole, "clone");
  execFileSync("git", ["clone", "-q", "--depth=2", pathToFileURL(whole).href, dir]);
  const [found = ""] = await stale();
  expect(found).toContain("this page: 2025-06-15 or earlier, commit");
  await write({ ".emend/check.json": "{}" });
  expect(await stale()).toEqual([]);
  dir = whole;
});
