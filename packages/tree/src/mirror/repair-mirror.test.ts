// Costly: it repairs what a killed git leaves.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { indexSource } from "@emend/site";
import { startGitHttpServer } from "@emend/testkit/git-http-server.ts";
import { type MirrorBench, openMirrorBench, type TestTree } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { siteTreeOf } from "../tree.ts";

let bench: MirrorBench;
beforeAll(() => {
  bench = openMirrorBench();
});
afterAll(() => bench.close());

const files = { "a.md": "a\n", "b.md": "b\n" };
const remoteOf = ({ repository }: TestTree) => ({ url: repository.url, authorization: null });
const fetch = (made: TestTree, jobId: string) =>
  made.mirror.fetchBase({ remote: remoteOf(made), jobId, baseRef: null }, bench.signal);
const ensure = (made: TestTree, jobId: string, commit = made.commit) =>
  made.mirror.ensureBase({ remote: remoteOf(made), jobId, commit }, bench.signal);

test("locks that a killed git left behind are cleared, and only those", async () => {
  const made = await bench.tree(files);
  const commit = made.repository.commit({ "a.md": "2\n" });
  const left = ["shallow.lock", "packed-refs.lock", "refs/emend/base/job_2.lock", "objects/pack/tmp_pack_x", "gc.pid"];
  for (const name of left) writeFileSync(join(made.gitDir, name), "");
  expect((await fetch(made, "job_2")).commit).toBe(commit);
  for (const name of left) expect(readdirSync(made.gitDir, { recursive: true })).not.toContain(name);
  expect(await made.mirror.pinnedJobs()).toEqual(["job_2", "job_tree"]);

  writeFileSync(join(made.gitDir, "refs/emend/base/job_2.lock"), "");
  writeFileSync(join(made.gitDir, "packed-refs.lock"), "");
  await made.mirror.release("job_2");
  expect(await made.mirror.pinnedJobs()).toEqual(["job_tree"]);

  const entries = [{ path: "c.md", mode: "100644", content: Buffer.from("c") } as const];
  const author = { name: "n", email: "e" };
  const input = { jobId: "job_3", base: made.commit, entries, message: "m", author, date: new Date(0) };
  await made.mirror.commit(input, bench.signal);
  writeFileSync(join(made.gitDir, "refs/emend/run/job_3.lock"), "");
  await made.mirror.commit({ ...input, message: "again" }, bench.signal);
});

test.each([
  ["HEAD emptied", (gitDir: string) => writeFileSync(join(gitDir, "HEAD"), "")],
  ["its configuration overwritten", (gitDir: string) => writeFileSync(join(gitDir, "config"), "[[[")],
  ["all objects gone", (gitDir: string) => rmSync(join(gitDir, "objects"), { recursive: true })],
  ["a ref torn", (gitDir: string) => writeFileSync(join(gitDir, "refs/emend/base/job_tree"), "")],
])("a mirror with %s is made anew", async (_, breakIt) => {
  const made = await bench.tree(files);
  const commit = made.repository.commit({ "a.md": "2\n" });
  breakIt(made.gitDir);
  expect((await fetch(made, "job_2")).commit).toBe(commit);
  expect((await made.mirror.treeAt(commit).read("a.md"))?.toString()).toBe("2\n");
});

test("a mirror that lost a commit's objects is created again", async () => {
  const made = await bench.tree(files);
  rmSync(join(made.gitDir, "objects"), { recursive: true });
  expect((await fetch(made, "job_2")).commit).toBe(made.commit);
  expect((await made.tree.read("a.md"))?.toString()).toBe("a\n");
});

/** A commit with a file whose content is an object file of its own. */
async function commitLoose({ mirror, commit, gitDir }: TestTree, path: string, text: string) {
  const entries = [{ path, mode: "100644", content: Buffer.from(text) } as const];
  const author = { name: "n", email: "e" };
  const input = { jobId: "job_tree", base: commit, entries, message: "m", author, date: new Date(0) };
  const build = () => mirror.commit(input, bench.signal);
  const tree = mirror.treeAt((await build()).commitId);
  const id = (await tree.index()).entries.get(path)?.oid ?? "";
  const blob = join(gitDir, "objects", id.slice(0, 2), id.slice(2));
  chmodSync(blob, 0o644);
  return { tree, blob, build };
}

test("a file that cannot be read is a passing fault, after which the mirror is repaired", async () => {
  const made = await bench.tree(files);
  const { tree, blob, build } = await commitLoose(made, "c.md", "loose\n");
  truncateSync(blob, 5);
  const reads = await Promise.allSettled(["a.md", "c.md", "b.md"].map((path) => tree.read(path)));
  expect(reads.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await expect(tree.read("c.md")).rejects.toMatchObject({ code: "repository_unavailable", retryable: true });
  // The next run: the same base, and the commit built again from the stored edits.
  await ensure(made, "job_tree");
  await build();
  expect((await tree.read("c.md"))?.toString()).toBe("loose\n");
});

test.each([
  ["is gone", rmSync],
  ["is torn", (blob: string) => truncateSync(blob, 5)],
])("of many sources, one that %s is a passing fault, after which the mirror is repaired", async (state, harm) => {
  const made = await bench.tree(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`src/${i}.ts`, `a${i}\n`])));
  const { tree, blob, build } = await commitLoose(made, "src/7.ts", `source ${state}\n`);
  harm(blob);
  const index = async () => (await indexSource(siteTreeOf(tree))).has("source");
  await expect(index()).rejects.toMatchObject({ code: "repository_unavailable", retryable: true });
  expect(readdirSync(join(made.gitDir, "objects/pack")).filter((name) => name.startsWith("tmp_"))).toEqual([]);
  await ensure(made, "job_tree");
  await build();
  expect(await index()).toBe(true);
});

test("pins of other jobs are fetched again when a mirror is made anew", async () => {
  const made = await bench.tree(files);
  const newer = made.repository.commit({ "a.md": "2\n" });
  await fetch(made, "job_2");
  rmSync(join(made.gitDir, "HEAD"));
  rmSync(join(made.gitDir, "objects"), { recursive: true });
  const newest = made.repository.commit({ "a.md": "3\n" });
  expect((await fetch(made, "job_3")).commit).toBe(newest);
  expect((await made.tree.read("a.md"))?.toString()).toBe("a\n");
  expect((await made.mirror.treeAt(newer).read("a.md"))?.toString()).toBe("2\n");
  expect(await made.mirror.pinnedJobs()).toEqual(["job_2", "job_3", "job_tree"]);
});

test("a base that is here is pinned without asking the repository", async () => {
  const made = await bench.tree(files);
  const nowhere = { url: "file:///nowhere.git", authorization: null };
  await made.mirror.ensureBase({ remote: nowhere, jobId: "job_9", commit: made.commit }, bench.signal);
  expect(await made.mirror.pinnedJobs()).toContain("job_9");
});

test("a base that is gone is fetched by its id, on a node that never had it too", async () => {
  const made = await bench.tree(files);
  made.repository.commit({ "a.md": "2\n" });
  const elsewhere = openMirrorBench();
  try {
    const mirror = await elsewhere.mirrors.open("prj_1");
    await mirror.ensureBase({ remote: remoteOf(made), jobId: "job_1", commit: made.commit }, bench.signal);
    expect((await mirror.treeAt(made.commit).read("a.md"))?.toString()).toBe("a\n");
  } finally {
    await elsewhere.close();
  }
});

test("a base that the repository no longer has ends the job with words; an unreachable one may pass", async () => {
  const made = await bench.tree(files);
  made.repository.commit({ "a.md": "rewritten\n" }, { from: null });
  made.repository.git("gc", "--quiet", "--prune=now");
  await made.mirror.release("job_tree");
  rmSync(made.gitDir, { recursive: true });
  await expect(ensure(made, "job_1")).rejects.toMatchObject({
    code: "repository_unavailable",
    retryable: false,
    publicMessage: expect.stringContaining("Create the job again"),
  });
  const server = await startGitHttpServer({ root: "/", authorize: () => 503 });
  try {
    const remote = { url: `${server.url}/x.git`, authorization: null };
    const away = made.mirror.ensureBase({ remote, jobId: "job_1", commit: made.commit }, bench.signal);
    await expect(away).rejects.toMatchObject({ code: "repository_unavailable", retryable: true });
  } finally {
    await server.close();
  }
});

test("a process killed in the middle of a fetch leaves a mirror that the next one uses", async () => {
  const made = await bench.tree(files);
  const commit = made.repository.commit({ "new.md": "n\n" });
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const server = await startGitHttpServer({
    root: join(bench.dir, "remotes"),
    async authorize(request) {
      // Only the fetch requests this first, so it shows that the fetch has begun.
      if (server.requests.filter(({ path }) => path.includes("info/refs")).length === 1 && request.method === "POST") {
        arrived.resolve();
        await gate.promise;
      }
      return true as const;
    },
  });
  try {
    const name = made.repository.path.split("/").at(-1);
    const program = `
      import { createGit } from ${JSON.stringify(join(import.meta.dirname, "../git/git.ts"))};
      import { createMirrors } from ${JSON.stringify(join(import.meta.dirname, "mirrors.ts"))};
      const git = createGit({ allowedProtocols: ["http"] });
      const mirrors = createMirrors({ dir: ${JSON.stringify(bench.mirrorsDir)}, git, log: console });
      const mirror = await mirrors.open(${JSON.stringify(made.gitDir.split("/").at(-1)?.slice(0, -4))});
      const remote = { url: ${JSON.stringify(`${server.url}/${name}`)}, authorization: null };
      await mirror.fetchBase({ remote, jobId: "job_killed", baseRef: null }, new AbortController().signal);`;
    const victim = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
    await arrived.promise;
    victim.kill("SIGKILL");
    await once(victim, "exit");
    gate.resolve();
    expect((await fetch(made, "job_2")).commit).toBe(commit);
    expect(await made.mirror.pinnedJobs()).toEqual(["job_2", "job_tree"]);
    expect(readFileSync(join(made.gitDir, "HEAD"), "utf8")).toContain("emend/none");
  } finally {
    await server.close();
  }
});
