import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkSite, openSite } from "@emend/site";
import { afterEach, beforeEach, expect, it } from "vitest";
import { workTree } from "./git-tree.ts";

let dir = "";
let seconds = 1_750_000_000;

function git(...args: string[]): string {
  const date = `${seconds++} +0000`;
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  return execFileSync("git", ["-C", dir, "-c", "user.name=T", "-c", "user.email=t@t", ...args], { env }).toString();
}

async function commit(files: Record<string, string>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  git("add", ".");
  git("commit", "-qm", "x");
  return git("rev-parse", "HEAD").slice(0, 9);
}

async function stale(): Promise<string[]> {
  const found = await checkSite(await openSite(workTree(dir)));
  return found
    .filter(({ check }) => check === "stale-screenshot")
    .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
}

const declaring = (...screenshots: object[]) => ({ ".emend/screenshots.json": JSON.stringify({ screenshots }) });
const login = { file: "docs/login.png", open: "http://localhost:8123/", code: ["src/login/**", "theme.css"] };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-stale-"));
  git("init", "-q");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it("names screenshots that are older than what they show, with both commits", async () => {
  const taken = await commit({
    ...declaring(login),
    "docs/login.png": "one",
    "src/login/form.ts": "1",
    "docs/a.md": "# A\n",
  });
  expect(await stale()).toEqual([]);
  await commit({ "src/other.ts": "2" });
  expect(await stale()).toEqual([]);
  await commit({ "theme.css": "2" });
  const changed = await commit({ "src/login/form.ts": "3" });
  const message = `This screenshot is older than what it shows: \`src/login/form.ts\` and 1 more changed later (2025-06-15, commit ${changed}; this file: 2025-06-15, commit ${taken}). Take it again.`;
  expect(await stale()).toEqual([`warning docs/login.png: ${message}`]);
  await commit({ "docs/login.png": "two" });
  expect(await stale()).toEqual([]);
});

it("is off where the project's settings say so", async () => {
  await commit({
    ...declaring(login),
    "docs/login.png": "one",
    ".emend/check.json": '{"checks":{"stale-screenshot":"off"}}',
  });
  await commit({ "theme.css": "2" });
  expect(await stale()).toEqual([]);
});

it.each([
  [{ ...login, file: "../login.png" }, '"file" must be the path of a PNG'],
  [{ ...login, file: "docs/login.svg" }, '"file" must be the path of a PNG'],
  [{ ...login, open: "https://example.com/" }, '"open" must be a page of the built site'],
  [{ ...login, window: [9000, 800] }, '"window" must be a width and a height between 100 and 2000'],
  [{ ...login, steps: [{ click: "#a", run: "rm" }] }, "has a step 1 that is none of"],
  [{ ...login, steps: Array(31).fill({ click: "#a" }) }, '"steps" must be a list of at most 30'],
  [{ ...login, wait: "x" }, 'has no field "wait"'],
])("says what is wrong with %j", async (one, words) => {
  await commit({ ...declaring(one), "docs/a.md": "# A\n" });
  expect(await stale()).toEqual([expect.stringContaining(words)]);
  expect((await stale())[0]).toMatch(/^error \.emend\/screenshots\.json: /);
});
