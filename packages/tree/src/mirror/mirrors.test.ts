import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";

let bench: MirrorBench;
beforeAll(() => {
  bench = openMirrorBench();
});
afterAll(() => bench.close());

test("maintenance packs an untidy mirror and takes nothing that a job reads", async () => {
  const { tree, mirror, gitDir, repository, commit } = await bench.tree({ "a.md": "a\n", "b.md": "b\n" });
  await tree.read("a.md");
  const tidy = bench.openMirrors({ packsMax: 0 });
  expect((await tidy.maintain(bench.signal)).collected).toBeGreaterThanOrEqual(1);
  expect(readdirSync(join(gitDir, "objects", "pack")).some((name) => name.endsWith(".pack"))).toBe(true);
  // This process had the objects open at their old place.
  expect((await tree.read("b.md"))?.toString()).toBe("b\n");
  const newer = repository.commit({ "a.md": "2\n" });
  const remote = { url: repository.url, authorization: null };
  expect((await mirror.fetchBase({ remote, jobId: "job_2", baseRef: null }, bench.signal)).commit).toBe(newer);
  expect((await mirror.treeAt(commit).read("a.md"))?.toString()).toBe("a\n");
});

test("reads, searches and commits go on while another process collects and fetches", async () => {
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, page) => [`${page}.md`, `page ${page}\n`]));
  const { tree, overlay, mirror, repository, commit } = await bench.tree(files);
  await overlay.set("new.md", Buffer.from("page new\n"));
  const other = bench.openMirrors({ looseObjectsMax: 0, packsMax: 0 });
  const elsewhere = await other.open("prj_tree2");
  const remote = { url: repository.url, authorization: null };
  const author = { name: "n", email: "e" };
  const work = async (round: number) => {
    repository.commit({ "moved.md": `${round}\n` });
    await Promise.all([
      other.maintain(bench.signal),
      elsewhere.fetchBase({ remote, jobId: `job_${round}`, baseRef: null }, bench.signal),
      ...Array.from({ length: 60 }, async (_, page) => {
        expect((await tree.read(`${page}.md`))?.toString()).toBe(`page ${page}\n`);
      }),
      overlay.search({ pattern: "page", kind: "literal", matchesMax: 100 }).then(({ matches }) => {
        expect(matches).toHaveLength(61);
      }),
      mirror.commit(
        {
          jobId: `job_${round}`,
          base: commit,
          entries: overlay.entries(),
          message: "m",
          author,
          date: new Date(round),
        },
        bench.signal,
      ),
    ]);
  };
  for (let round = 0; round < 4; round += 1) await work(round);
});

test("over the size limit unpinned mirrors go, least recently used first; pinned ones never", async () => {
  const own = openMirrorBench({ mirrorsBytesMax: 30_000 });
  try {
    const pages = (name: string) => ({ [`${name}.bin`]: randomBytes(12_000) });
    const pinned = await own.tree(pages("a"));
    const old = await own.tree(pages("bb"));
    const recent = await own.tree(pages("ccc"));
    for (const made of [old, recent]) await made.mirror.release("job_tree");
    const lock = (gitDir: string) => gitDir.replace(/\.git$/, ".store.lock");
    for (const [index, made] of [pinned, old, recent].entries()) {
      utimesSync(lock(made.gitDir), new Date(1_000_000 * (index + 1)), new Date(1_000_000 * (index + 1)));
    }
    const done = await own.mirrors.maintain(own.signal);
    expect(done.removed).toBe(1);
    expect(done.bytes).toBeLessThanOrEqual(30_000);
    expect(await own.mirrors.projects()).toEqual(["prj_tree1", "prj_tree3"]);
    // A removed mirror is fetched again when needed.
    const remote = { url: old.repository.url, authorization: null };
    const back = await old.mirror.fetchBase({ remote, jobId: "job_2", baseRef: null }, own.signal);
    expect(await old.mirror.treeAt(back.commit).read("bb.bin")).toHaveLength(12_000);
    expect(existsSync(pinned.gitDir)).toBe(true);
  } finally {
    await own.close();
  }
});

test("mirrors of projects that are gone, and those that were not used for long, are removed; pinned ones never", async () => {
  const own = openMirrorBench();
  try {
    const [pinned, gone, old, recent] = [
      await own.tree({ "a.md": "a\n" }),
      await own.tree({ "b.md": "b\n" }),
      await own.tree({ "c.md": "c\n" }),
      await own.tree({ "d.md": "d\n" }),
    ];
    for (const made of [gone, old, recent]) await made.mirror.release("job_tree");
    const long = new Date(1_000_000);
    for (const { gitDir } of [pinned, old]) utimesSync(gitDir.replace(/\.git$/, ".store.lock"), long, long);
    const unwanted = { projects: new Set(["prj_tree2"]), usedBeforeMs: 2_000_000 };
    expect((await own.mirrors.maintain(own.signal, unwanted)).removed).toBe(2);
    expect(await own.mirrors.projects()).toEqual(["prj_tree1", "prj_tree4"]);
  } finally {
    await own.close();
  }
});

test("a closed set of mirrors refuses work and leaves no process behind", async () => {
  const own = openMirrorBench();
  const { tree } = await own.tree({ "a.md": "a\n" });
  await tree.read("a.md");
  await own.mirrors.close();
  await expect(own.mirrors.open("prj_x")).rejects.toThrow(/closed/);
  await expect(tree.search({ pattern: "a", kind: "literal", matchesMax: 1 })).rejects.toThrow(/closed/);
  await own.close();
});

test.each(["..", "a/b", "", ".", "a".repeat(101), "a b"])("the id %j makes no file name", async (id) => {
  await expect(bench.mirrors.open(id)).rejects.toMatchObject({ code: "internal" });
});

test("tidying leaves no pins of final jobs and no single files, however many jobs there were", async () => {
  const { mirror, gitDir, commit } = await bench.tree({ "a.md": "a\n" });
  const { git, signal } = bench;
  const author = { name: "n", email: "e" };
  let last = "";
  for (let round = 0; round < 6; round += 1) {
    const jobIds = Array.from({ length: 5 }, (_, n) => `job_${round}_${n}`);
    for (const jobId of jobIds) {
      const entries = [{ path: `${jobId}.md`, mode: "100644", content: Buffer.from(jobId) } as const];
      const input = { jobId, base: commit, entries, message: jobId, author, date: new Date(round) };
      last = (await mirror.commit(input, signal)).commitId;
    }
    // The last one is still being published.
    const final = (await mirror.pinnedJobs()).filter((jobId) => jobId !== jobIds.at(-1) && jobId !== "job_tree");
    await mirror.tidy(final, signal);
    expect(await mirror.pinnedJobs()).toEqual([jobIds.at(-1), "job_tree"]);
    const counted = await git.must(
      { gitDir, args: ["count-objects", "-v"], timeMsMax: 60_000, outputBytesMax: 10_000 },
      signal,
    );
    expect(counted.toString()).toMatch(/^count: 0$/m);
    expect(Number(/^packs: (\d+)$/m.exec(counted.toString())?.[1])).toBeLessThanOrEqual(4);
    expect((await mirror.treeAt(last).read(`${jobIds.at(-1)}.md`))?.toString()).toBe(jobIds.at(-1));
  }
});
