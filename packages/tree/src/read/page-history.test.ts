import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitHttpServer, startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { makeRepository, type TestRepository } from "@emend/testkit/make-repository.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGit } from "../git/git.ts";
import { createCommitReader, createPageHistory, createSiteHistory } from "./history.ts";

const git = createGit({ allowedProtocols: ["http", "file"] });
const { signal } = new AbortController();
let dir: string;
let server: GitHttpServer;
let repository: TestRepository;

/** 320 commits: one touches old.md, then others touch new.md, by a person whose message has a body. */
function history(): string {
  const commits = Array.from({ length: 320 }, (_, index) => {
    const message = index === 0 ? "Write old.md" : `Say ${index}\n\nSince it was asked.`;
    const path = index === 0 ? "old.md" : index > 310 ? "guides/new.md" : "other.md";
    const text = `${index}\n`;
    return `commit refs/heads/main\ncommitter Ann <ann@example.com> ${1_750_000_000 + index * 60} +0000\ndata ${message.length}\n${message}\nM 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
  });
  return commits.join("");
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-history-"));
  repository = makeRepository(join(dir, "forge", "docs.git"));
  execFileSync("git", ["--git-dir", repository.path, "fast-import", "--quiet", "--force"], { input: history() });
  repository.git("config", "uploadpack.allowFilter", "true");
  server = await startGitHttpServer({
    root: join(dir, "forge"),
    authorize: (request) => request.headers.authorization === "Basic right" || 401,
  });
});
afterAll(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

const remote = () => ({ url: `${server.url}/docs.git`, authorization: "Basic right" });
const scratch = () => join(dir, "scratch");

test("a page's last commits come over HTTP, newest first, and leave nothing behind", async () => {
  const historyOf = createPageHistory({ git, dir: scratch() });
  const commits = await historyOf({ remote: remote(), branch: "main", path: "guides/new.md" }, signal);
  expect(commits).toHaveLength(9);
  expect(commits[0]).toEqual({
    id: repository.git("rev-parse", "main"),
    date: "2025-06-15",
    author: "Ann",
    subject: "Say 319",
    message: "Say 319 Since it was asked.",
  });
  expect(await readdir(scratch())).toEqual([]);
});

test("the oldest fetched commit is not reported as the author of its whole content", async () => {
  const historyOf = createPageHistory({ git, dir: scratch() });
  expect(await historyOf({ remote: remote(), branch: "main", path: "old.md" }, signal)).toEqual([]);
  const whole = { url: repository.url, authorization: null };
  expect(await historyOf({ remote: whole, branch: "main", path: "old.md" }, signal)).toMatchObject([
    { author: "Ann", message: "Write old.md" },
  ]);
});

test("an unreadable history is an error, and leaves no files behind", async () => {
  const historyOf = createPageHistory({ git, dir: scratch() });
  const closed = { ...remote(), authorization: "Basic wrong" };
  await expect(historyOf({ remote: closed, branch: "main", path: "old.md" }, signal)).rejects.toThrow(/history/);
  await expect(historyOf({ remote: remote(), branch: "gone", path: "old.md" }, signal)).rejects.toThrow(/history/);
  expect(await readdir(scratch())).toEqual([]);
});

test("a site's history tells when each file last changed, of the oldest commit that it may be earlier, and never fails", async () => {
  const historyOf = createSiteHistory({ git, dir: scratch() });
  const changes = await historyOf({ remote: remote(), branch: "main" }, signal);
  expect(changes.get("guides/new.md")).toMatchObject({
    commit: repository.git("rev-parse", "main"),
    date: "2025-06-15",
  });
  expect(changes.get("old.md")?.date).toBe("2025-06-15 or earlier");
  expect(changes.get("guides/new.md")?.rank).toBeGreaterThan(changes.get("other.md")?.rank ?? 0);
  expect((await historyOf({ remote: remote(), branch: "none" }, signal)).size).toBe(0);
  expect(await readdir(scratch())).toEqual([]);
});

test("one commit is shown with its patch, over HTTP and from a folder, and only of its branch", async () => {
  const show = createCommitReader({ git, dir: scratch() });
  const commit = repository.git("rev-parse", "main").slice(0, 9);
  const folder = { url: repository.url, authorization: null };
  for (const from of [remote(), folder]) {
    const text = await show({ remote: from, branch: "main", commit, path: "guides/new.md" }, signal);
    expect(text).toMatch(/2025-06-15 Ann\n\nSay 319[\s\S]*\+\+\+ b\/guides\/new\.md/);
    expect(await show({ remote: from, branch: "main", commit: "0123456789", path: "" }, signal)).toBeNull();
  }
  expect(await readdir(scratch())).toEqual([]);
});
