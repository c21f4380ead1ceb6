import { join } from "node:path";
import { type GitHttpServer, startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import type { TestRepository } from "@emend/testkit/make-repository.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { resolveBase, resolveBranch } from "../mirror/resolve-base.ts";

type Verdict = Awaited<ReturnType<NonNullable<Parameters<typeof startGitHttpServer>[0]["authorize"]>>>;
const authorization = "Basic c2VjcmV0OnRva2Vu";
let bench: MirrorBench;
let repository: TestRepository;
let commit: string;
let server: GitHttpServer;
let answerWith: () => Verdict;

beforeAll(async () => {
  bench = openMirrorBench();
  repository = bench.repository("docs", { branch: "trunk" });
  commit = repository.commit({ "a.md": "1\n" });
  repository.commit({ "a.md": "2\n" }, { branch: "trunk-2" });
  server = await startGitHttpServer({
    root: join(bench.dir, "remotes"),
    authorize: (request) => (request.headers.authorization === authorization ? answerWith() : 401),
  });
});
afterAll(async () => {
  await server.close();
  await bench.close();
});
beforeEach(() => {
  answerWith = () => true;
  server.requests.length = 0;
});
const remote = (name = "docs") => ({ url: `${server.url}/${name}.git`, authorization });
const asked = () => server.requests.map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);

test("where a branch is takes one request, with the credential, and no other branch is taken for it", async () => {
  const base = await resolveBase(bench.git, { remote: remote(), baseRef: null }, bench.signal);
  expect(base).toEqual({ branch: "trunk", commit });
  expect(asked()).toEqual(["POST git-upload-pack"]);
  expect(await resolveBranch(bench.git, { remote: remote(), branch: "trunk" }, bench.signal)).toBe(commit);
  expect(await resolveBranch(bench.git, { remote: remote(), branch: "trun" }, bench.signal)).toBeNull();
});

test("for another object format, git itself lists the refs", async () => {
  const other = bench.repository("other", { objectFormat: "sha256" });
  const tip = other.commit({ "a.md": "1\n" });
  expect(await resolveBranch(bench.git, { remote: remote("other"), branch: "main" }, bench.signal)).toBe(tip);
  expect(asked()).toContain("GET refs?service=git-upload-pack");
});

test.each([
  [200, "text/html", "<html>"],
  [200, "application/x-git-upload-pack-result", "003f"],
  [200, "application/x-git-upload-pack-result", "0009ERR x"],
  [302, "text/html", ""],
])("an answer that is none (%d, %s, %j) is left to git, which finds out", async (status, type, body) => {
  const odd: Verdict = (response) =>
    void response.writeHead(status, { "content-type": type, location: "/elsewhere" }).end(body);
  answerWith = () => (server.requests.length === 1 ? odd : true);
  expect(await resolveBranch(bench.git, { remote: remote(), branch: "trunk" }, bench.signal)).toBe(commit);
  expect(asked().slice(0, 2)).toEqual(["POST git-upload-pack", "GET refs?service=git-upload-pack"]);
});

test("git reports a refused credential", async () => {
  const input = { remote: { ...remote(), authorization: "Basic b3RoZXI=" }, branch: "trunk" };
  await expect(resolveBranch(bench.git, input, bench.signal)).rejects.toMatchObject({
    code: "repository_unavailable",
    retryable: false,
    publicMessage: expect.stringContaining("credential is missing or expired"),
  });
});
