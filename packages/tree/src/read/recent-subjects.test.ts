import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitHttpServer, startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { makeRepository, type TestRepository } from "@emend/testkit/make-repository.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGit } from "../git/git.ts";
import { createRecentSubjects } from "./history.ts";

const git = createGit({ allowedProtocols: ["http", "file"] });
const { signal } = new AbortController();
let dir: string;
let server: GitHttpServer;
let repository: TestRepository;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-subjects-"));
  repository = makeRepository(join(dir, "forge", "docs.git"));
  const tree = repository.commit({ "a.md": "x".repeat(1000) });
  const ids = ["git", "-c", "user.name=T", "-c", "user.email=t@example.com"].slice(1);
  let parent = tree;
  for (let number = 1; number <= 40; number += 1) {
    parent = repository.git(...ids, "commit-tree", `${tree}^{tree}`, "-p", parent, "-m", `docs: say ${number}`);
  }
  repository.git("update-ref", "refs/heads/main", parent);
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

const newest = Array.from({ length: 30 }, (_, index) => `docs: say ${40 - index}`);

test("the newest subjects of a branch come over HTTP, without its files, and leave nothing behind", async () => {
  const subjectsOf = createRecentSubjects({ git, dir: join(dir, "scratch") });
  const remote = { url: `${server.url}/docs.git`, authorization: "Basic right" };
  expect(await subjectsOf({ remote, branch: "main" }, signal)).toEqual(newest);
  expect(await readdir(join(dir, "scratch"))).toEqual([]);
  const asked = server.requests.length;
  expect(await subjectsOf({ remote, branch: "main" }, signal)).toEqual(newest);
  expect(server.requests).toHaveLength(asked);
});

test("a folder of the local forge is read where it is", async () => {
  const subjectsOf = createRecentSubjects({ git, dir: join(dir, "unused") });
  const remote = { url: repository.url, authorization: null };
  expect(await subjectsOf({ remote, branch: "main" }, signal)).toEqual(newest);
  await expect(readdir(join(dir, "unused"))).rejects.toThrow();
});

test("what cannot be read says nothing, and fails nothing", async () => {
  const subjectsOf = createRecentSubjects({ git, dir: join(dir, "scratch") });
  const closed = { url: `${server.url}/docs.git`, authorization: "Basic wrong" };
  expect(await subjectsOf({ remote: closed, branch: "main" }, signal)).toEqual([]);
  expect(await subjectsOf({ remote: { ...closed, url: "file:///nowhere" }, branch: "x" }, signal)).toEqual([]);
  expect(await readdir(join(dir, "scratch"))).toEqual([]);
});
