import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { type GitHttpServer, startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import type { TestRepository } from "@emend/testkit/make-repository.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Mirror, Remote } from "./mirror.ts";

let bench: MirrorBench;
let server: GitHttpServer;
let repository: TestRepository;
let mirror: Mirror;
let remote: Remote;
let base: string;
let signal: AbortSignal;
/** If set, the server sends this response instead. */
let instead: number | ((response: ServerResponse) => void) | null = null;

beforeAll(async () => {
  bench = openMirrorBench();
  signal = bench.signal;
  repository = bench.repository();
  const pages = Array.from(
    { length: 200 },
    (_, page) => [`docs/${page}.md`, `page ${page} ${"x".repeat(500)}\n`] as const,
  );
  base = repository.commit(new Map(pages));
  server = await startGitHttpServer({
    root: join(bench.dir, "remotes"),
    authorize(request) {
      if (request.headers.authorization !== "Basic c2VjcmV0") return 401;
      return instead ?? true;
    },
  });
  remote = { url: `${server.url}/docs.git`, authorization: "Basic c2VjcmV0" };
  mirror = await bench.mirrors.open("prj_1");
  await mirror.fetchBase({ remote, jobId: "job_1", baseRef: null }, signal);
});
afterAll(async () => {
  await server.close();
  await bench.close();
});

async function change(text: string): Promise<string> {
  const entries = [{ path: "docs/0.md", mode: "100644", content: Buffer.from(text) } as const];
  const author = { name: "Emend", email: "noreply@emend.invalid" };
  const input = { jobId: "job_1", base, entries, message: text, author, date: new Date(0) };
  return (await mirror.commit(input, signal)).commitId;
}
const push = (branch: string, commit: string, expected: string | null = null) =>
  mirror.push({ remote, branch, commit, expected }, signal);
const tip = (branch: string) => repository.git("for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`);

test("creates the branch, and the identical push again is no conflict", async () => {
  const commit = await change("one");
  expect(await push("emend/a", commit)).toEqual({ kind: "pushed" });
  expect(tip("emend/a")).toBe(commit);
  expect(await push("emend/a", commit)).toEqual({ kind: "pushed" });
  expect(repository.git("log", "--format=%s", "emend/a")).toBe("one\ntest");
});

test("identical pushes at the same time all say pushed", async () => {
  const commit = await change("race");
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => push("emend/race", commit)));
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["pushed"]));
  expect(tip("emend/race")).toBe(commit);
});

test("never overwrites somebody else's commit", async () => {
  const commit = await change("mine");
  const theirs = repository.commit({ "theirs.md": "x\n" }, { branch: "emend/b", from: base });
  expect(await push("emend/b", commit)).toEqual({ kind: "conflict", found: theirs });
  expect(await push("emend/b", commit, base)).toEqual({ kind: "conflict", found: theirs });
  expect(tip("emend/b")).toBe(theirs);
});

test("replaces the expected commit, and tells when the branch is gone", async () => {
  const first = await change("first");
  const second = await change("second");
  await push("emend/c", first);
  expect(await push("emend/c", second, first)).toEqual({ kind: "pushed" });
  expect(tip("emend/c")).toBe(second);
  repository.git("update-ref", "-d", "refs/heads/emend/c");
  expect(await push("emend/c", first, second)).toEqual({ kind: "conflict", found: null });
});

test("a base that moved on is not sent again", async () => {
  repository.commit({ "docs/moved.md": "x\n" });
  repository.commit({ "docs/moved.md": "y\n" });
  for (const ref of repository.git("for-each-ref", "--format=%(refname)", "refs/heads/emend").split("\n")) {
    repository.git("update-ref", "-d", ref);
  }
  const commit = await change("small");
  server.requests.length = 0;
  expect(await push("emend/d", commit)).toEqual({ kind: "pushed" });
  const sent = server.requests
    .filter(({ path }) => path.endsWith("git-receive-pack"))
    .map(({ bodyBytes }) => bodyBytes);
  expect(Math.max(...sent)).toBeGreaterThan(100);
  expect(Math.max(...sent)).toBeLessThan(5_000);
});

test("a refusal keeps the forge's own words", async () => {
  const hooks = join(repository.path, "hooks");
  mkdirSync(hooks, { recursive: true });
  const hook = join(hooks, "pre-receive");
  writeFileSync(
    hook,
    "#!/bin/sh\nread old new ref\ncase $ref in *protected*) echo 'GH006: protected branch' >&2; exit 1;; esac\n",
  );
  chmodSync(hook, 0o755);
  const commit = await change("refused");
  expect(await push("emend/protected", commit)).toEqual({
    kind: "rejected",
    reason: "[remote rejected] (pre-receive hook declined); GH006: protected branch",
  });
  expect(tip("emend/protected")).toBe("");
});

test("a credential without push access is a refusal, a server error is an unclear result", async () => {
  const commit = await change("faults");
  const wrong = { ...remote, authorization: "Basic d3Jvbmc=" };
  const refused = await mirror.push({ remote: wrong, branch: "emend/e", commit, expected: null }, signal);
  expect(refused).toMatchObject({ kind: "rejected", reason: expect.stringContaining("revoked or expired") });
  instead = 403;
  expect(await push("emend/e", commit)).toMatchObject({
    kind: "rejected",
    reason: expect.stringContaining("may not push"),
  });
  instead = 502;
  await expect(push("emend/e", commit)).rejects.toMatchObject({ code: "forge_unavailable", retryable: true });
  instead = 404;
  await expect(push("emend/e", commit)).rejects.toMatchObject({ code: "repository_unavailable", retryable: false });
  instead = null;
  const nowhere = { ...remote, url: "http://127.0.0.1:1/docs.git" };
  const lost = mirror.push({ remote: nowhere, branch: "emend/e", commit, expected: null }, signal);
  await expect(lost).rejects.toMatchObject({ code: "forge_unavailable", retryable: true });
  expect(await push("emend/e", commit)).toEqual({ kind: "pushed" });
});

test("a push takes as long as the server says something, and ends when it says nothing", async () => {
  const hook = join(repository.path, "hooks", "pre-receive");
  mkdirSync(join(repository.path, "hooks"), { recursive: true });
  const input = { remote, commit: await change("slow"), expected: null, silenceMsMax: 6_000 };
  writeFileSync(hook, "#!/bin/sh\nfor i in 1 2 3 4 5; do echo working >&2; sleep 1.5; done\n");
  chmodSync(hook, 0o755);
  expect(await mirror.push({ ...input, branch: "emend/slow" }, signal)).toEqual({ kind: "pushed" });
  writeFileSync(hook, "#!/bin/sh\nsleep 60\n");
  await expect(mirror.push({ ...input, branch: "emend/silent" }, signal)).rejects.toMatchObject({
    retryable: true,
    publicMessage: expect.stringMatching(/stopped after 6 s without an answer/),
  });
  rmSync(hook);
});

test("a rate limit of git gives the server's Retry-After, and a pause is not taken for a missing permission", async () => {
  const commit = await change("limited");
  instead = (response) => void response.writeHead(429, { "retry-after": "7" }).end();
  await expect(push("emend/limited", commit)).rejects.toMatchObject({
    code: "forge_unavailable",
    retryable: true,
    retryAfterMs: 7_000,
    isRateLimit: true,
  });
  const words = "The repository is temporarily read-only. Please try again later.";
  instead = (response) => void response.writeHead(403, { "content-type": "text/plain" }).end(words);
  await expect(push("emend/limited", commit)).rejects.toMatchObject({
    code: "forge_unavailable",
    retryable: true,
    publicMessage: expect.stringContaining("temporarily read-only"),
  });
  instead = null;
});

test.each(["", "-f", "a..b", "refs/heads/../x", "a b", "x".repeat(201)])("refuses the branch name %j", async (name) => {
  await expect(push(name, base)).rejects.toMatchObject({ code: "internal" });
});

test("reading needs the credential too, and says what is wrong with it", async () => {
  const fetch = (authorization: string | null) =>
    mirror.fetchBase({ remote: { ...remote, authorization }, jobId: "job_2", baseRef: null }, signal);
  for (const authorization of [null, "Bearer nonsense"]) {
    await expect(fetch(authorization)).rejects.toMatchObject({
      code: "repository_unavailable",
      retryable: false,
      publicMessage: expect.stringMatching(/credential is missing or expired, or has no read access/),
    });
  }
  instead = 503;
  await expect(fetch(remote.authorization)).rejects.toMatchObject({ code: "repository_unavailable", retryable: true });
  instead = 404;
  await expect(fetch(remote.authorization)).rejects.toMatchObject({
    retryable: false,
    publicMessage: /repository URL/,
  });
  instead = null;
});

test("a redirect is not followed, least of all with the credential", async () => {
  const asked: (string | undefined)[] = [];
  const thief = await startGitHttpServer({
    root: join(bench.dir, "remotes"),
    authorize(request) {
      asked.push(request.headers.authorization);
      return true;
    },
  });
  const front = await startGitHttpServer({
    root: "/",
    authorize: (request) => (response) => {
      response.writeHead(302, { location: `${thief.url}${request.url}` }).end();
    },
  });
  try {
    const moved = { ...remote, url: `${front.url}/docs.git` };
    const fetch = mirror.fetchBase({ remote: moved, jobId: "job_3", baseRef: null }, signal);
    await expect(fetch).rejects.toMatchObject({
      retryable: false,
      publicMessage: expect.stringContaining("has moved"),
    });
    expect(asked).toEqual([]);
  } finally {
    await front.close();
    await thief.close();
  }
});
