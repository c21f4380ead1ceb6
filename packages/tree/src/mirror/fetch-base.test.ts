import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import type { TestRepository } from "@emend/testkit/make-repository.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Remote } from "./mirror.ts";

let bench: MirrorBench;
let signal: AbortSignal;
let projects = 0;

beforeAll(() => {
  bench = openMirrorBench();
  signal = bench.signal;
});
afterAll(() => bench.close());

const remoteOf = (repository: TestRepository): Remote => ({ url: repository.url, authorization: null });

async function setUp(options: Parameters<MirrorBench["repository"]>[1] = {}) {
  projects += 1;
  const projectId = `prj_${projects}`;
  const repository = bench.repository(projectId, options);
  const mirror = await bench.mirrors.open(projectId);
  const remote = remoteOf(repository);
  const gitDir = join(bench.mirrorsDir, `${projectId}.git`);
  const fetch = (jobId: string, baseRef: string | null = null) => mirror.fetchBase({ remote, jobId, baseRef }, signal);
  return { projectId, repository, mirror, remote, gitDir, fetch };
}

async function mirrorGit(gitDir: string, ...args: string[]): Promise<string> {
  return (await bench.git.must({ gitDir, args, timeMsMax: 20_000, outputBytesMax: 1_000_000 }, signal))
    .toString()
    .trim();
}

test("fetches the default branch with one commit, complete, and pins it", async () => {
  const { repository, fetch, gitDir } = await setUp({ branch: "trunk" });
  repository.commit({ "a.md": "1\n" });
  const commit = repository.commit({ "a.md": "2\n" });
  expect(await fetch("job_1")).toEqual({ commit, ref: "trunk" });
  expect(await mirrorGit(gitDir, "rev-parse", "refs/emend/base/job_1")).toBe(commit);
  expect(await mirrorGit(gitDir, "rev-list", "--count", commit)).toBe("1");
  expect(await mirrorGit(gitDir, "config", "--get-regexp", "remote|promisor").catch(() => "none")).toBe("none");
  expect(readdirSync(gitDir).sort()).not.toContain("hooks");
});

test("a named branch, and the same branch again once it moved", async () => {
  const { repository, fetch } = await setUp();
  repository.commit({ "a.md": "main\n" });
  const first = repository.commit({ "a.md": "next\n" }, { branch: "release/2.0" });
  expect(await fetch("job_1", "release/2.0")).toEqual({ commit: first, ref: "release/2.0" });
  const second = repository.commit({ "b.md": "more\n" }, { branch: "release/2.0" });
  expect(await fetch("job_2", "release/2.0")).toEqual({ commit: second, ref: "release/2.0" });
});

test("a renamed default branch is followed", async () => {
  const { repository, fetch } = await setUp({ branch: "master" });
  const commit = repository.commit({ "a.md": "1\n" });
  expect((await fetch("job_1")).ref).toBe("master");
  repository.git("branch", "-m", "master", "main");
  repository.git("symbolic-ref", "HEAD", "refs/heads/main");
  expect(await fetch("job_2")).toEqual({ commit, ref: "main" });
});

test("a branch that became a folder of branches is fetched", async () => {
  const { repository, fetch } = await setUp();
  repository.commit({ "a.md": "1\n" }, { branch: "docs" });
  await fetch("job_1", "docs");
  repository.git("update-ref", "-d", "refs/heads/docs");
  const commit = repository.commit({ "a.md": "2\n" }, { branch: "docs/new" });
  expect((await fetch("job_2", "docs/new")).commit).toBe(commit);
});

test("a history that was rewritten is taken, and the old base stays readable", async () => {
  const { repository, mirror, fetch } = await setUp();
  const old = repository.commit({ "a.md": "old\n" });
  await fetch("job_1");
  const rewritten = repository.commit({ "a.md": "new\n" }, { from: null });
  repository.git("gc", "--quiet", "--prune=now");
  expect((await fetch("job_2")).commit).toBe(rewritten);
  expect((await mirror.treeAt(old).read("a.md"))?.toString()).toBe("old\n");
});

test("a repository with another object format is mirrored in that one, also after it changed", async () => {
  const { repository, mirror, fetch, remote } = await setUp({ objectFormat: "sha256" });
  const commit = repository.commit({ "a.md": "long ids\n" });
  expect(commit).toHaveLength(64);
  expect((await fetch("job_1")).commit).toBe(commit);
  expect((await mirror.treeAt(commit).read("a.md"))?.toString()).toBe("long ids\n");
  const other = bench.repository("successor");
  const short = other.commit({ "a.md": "short ids\n" });
  expect(remote.url).not.toBe(other.url);
  const moved = await mirror.fetchBase({ remote: remoteOf(other), jobId: "job_2", baseRef: null }, signal);
  expect(moved.commit).toBe(short);
  expect((await mirror.treeAt(short).read("a.md"))?.toString()).toBe("short ids\n");
});

test("says what to do about a repository without a commit to start from", async () => {
  const empty = await setUp();
  const refusal = { code: "repository_unavailable", retryable: false };
  await expect(empty.fetch("job_1")).rejects.toMatchObject({
    ...refusal,
    publicMessage: "The repository is empty: push a first commit to it.",
  });
  await expect(empty.fetch("job_1", "main")).rejects.toMatchObject({ ...refusal, publicMessage: /is empty/ });

  const unborn = await setUp({ branch: "main" });
  unborn.repository.commit({ "a.md": "1\n" }, { branch: "docs" });
  await expect(unborn.fetch("job_1")).rejects.toMatchObject({
    ...refusal,
    publicMessage: "The repository has no default branch. Set the project's base branch; it has: docs.",
  });
  await expect(unborn.fetch("job_1", "gone")).rejects.toMatchObject({
    ...refusal,
    publicMessage: 'The repository has no branch "gone". Choose another base branch; it has: docs.',
  });
  await expect(unborn.fetch("job_1", "--upload-pack=x")).rejects.toMatchObject(refusal);
});

test("the error about a deleted repository contains no local path", async () => {
  const { mirror } = await setUp();
  const remote = { url: pathToFileURL(`${bench.dir}/remotes/no where ü.git`).href, authorization: null };
  const fetch = mirror.fetchBase({ remote, jobId: "job_1", baseRef: null }, signal);
  await expect(fetch).rejects.toMatchObject({ code: "repository_unavailable", retryable: false });
  await expect(fetch).rejects.not.toMatchObject({ publicMessage: expect.stringContaining(bench.dir) });
});

test("callers during a fetch share the next one; no caller gets an older answer", async () => {
  const { repository } = await setUp();
  repository.commit({ "a.md": "1\n" });
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const server = await startGitHttpServer({
    root: join(bench.dir, "remotes"),
    async authorize() {
      arrived.resolve();
      await gate.promise;
      return true as const;
    },
  });
  try {
    const mirror = await bench.mirrors.open("prj_shared");
    const remote = { url: `${server.url}/prj_${projects}.git`, authorization: null };
    const fetch = (job: number) => mirror.fetchBase({ remote, jobId: `job_${job}`, baseRef: null }, signal);
    const first = fetch(0);
    await arrived.promise;
    const crowd = Array.from({ length: 20 }, (_, index) => fetch(index + 1));
    const newer = repository.commit({ "a.md": "2\n" });
    gate.resolve();
    await first;
    const bases = await Promise.all(crowd);
    expect(new Set(bases.map((base) => base.commit))).toEqual(new Set([newer]));
    expect(await mirror.pinnedJobs()).toHaveLength(21);
    // Two rounds of `ls-refs` and fetch, not twenty-one.
    expect(server.requests.filter(({ path }) => path.includes("info/refs")).length).toBeLessThanOrEqual(4);
  } finally {
    await server.close();
  }
});

test("a caller that gives up does not cancel the fetch for others", async () => {
  const { repository, mirror, remote } = await setUp();
  const commit = repository.commit({ "a.md": "1\n" });
  const controller = new AbortController();
  const leaving = mirror.fetchBase({ remote, jobId: "job_1", baseRef: null }, controller.signal);
  const staying = mirror.fetchBase({ remote, jobId: "job_2", baseRef: null }, signal);
  controller.abort(new Error("left"));
  await expect(leaving).rejects.toThrow("left");
  expect((await staying).commit).toBe(commit);
});

test("two processes fetching into one mirror at the same time both succeed", async () => {
  const { projectId, repository, mirror, remote } = await setUp();
  const commit = repository.commit({ "a.md": "1\n" });
  const other = await bench.openMirrors().open(projectId);
  const fetches = [mirror, other, mirror, other].map((one, index) =>
    one.fetchBase({ remote, jobId: `job_${index}`, baseRef: index < 2 ? null : "main" }, signal),
  );
  for (const base of await Promise.all(fetches)) expect(base.commit).toBe(commit);
  expect(await other.pinnedJobs()).toHaveLength(4);
});
