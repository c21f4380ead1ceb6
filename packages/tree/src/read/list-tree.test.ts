import { readFile, rm, stat } from "node:fs/promises";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Git } from "../git/git.ts";
import type { TreeIndex } from "../tree.ts";
import { createIndexCache, listTree } from "./list-tree.ts";

let bench: MirrorBench;
beforeAll(() => {
  bench = openMirrorBench();
});
afterAll(() => bench.close());

test("a list that takes known sizes over is the same as one that measures everything", async () => {
  const { repository } = await bench.tree({
    "a.md": "same\n",
    "b.md": "will change\n",
    "d/gone.md": "x\n",
    link: { mode: "120000", content: "a.md" },
    module: { submodule: "1".repeat(40) },
  });
  const before = repository.git("rev-parse", "main");
  const after = repository.commit({
    "b.md": "has changed\n",
    "d/gone.md": null,
    "e/f/copy.md": "same\n",
    "e/f/tab\tand space.md": "new\n",
    "e/empty.md": "",
    module: { submodule: "2".repeat(40) },
  });
  const list = (commit: string, known?: TreeIndex) =>
    listTree(bench.git, { gitDir: repository.path, commit, filesMax: 100, known }, bench.signal);
  const known = await list(before);
  expect(known.entries.get("link")).toMatchObject({ mode: "120000", size: 4 });
  expect(known.entries.get("module")).toMatchObject({ mode: "160000", size: null });
  const whole = await list(after);
  expect(await list(after, known)).toEqual(whole);
  expect(Object.fromEntries(whole.folderFiles)).toEqual({ e: 3, "e/f": 2 });
});

test("a tree that repeats one folder millions of times is refused early, and not read again", async () => {
  const { repository } = await bench.tree({ "a.md": "x\n" });
  let tree = repository.git("rev-parse", "main^{tree}");
  for (let level = 0; level < 7; level += 1) {
    const entries = Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\td${index}\0`).join("");
    tree = repository.gitWith(entries, "mktree", "-z");
  }
  const bomb = repository.git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit-tree", "-m", "bomb", tree);
  let bytes = 0;
  let runs = 0;
  const counting: Git = {
    ...bench.git,
    run(command, signal) {
      runs += 1;
      const onOutput = (chunk: Buffer) => {
        bytes += chunk.length;
        return command.onOutput?.(chunk) ?? true;
      };
      return bench.git.run({ ...command, onOutput }, signal);
    },
  };
  const cache = createIndexCache(1_000);
  const look = () =>
    cache.get("bomb", () =>
      listTree(counting, { gitDir: repository.path, commit: bomb, filesMax: 2_000 }, bench.signal),
    );
  const refusal = { code: "repository_unavailable", publicMessage: "The repository has more than 2000 files." };
  await expect(look()).rejects.toMatchObject(refusal);
  expect(bytes).toBeLessThan(1_000_000);
  await expect(look()).rejects.toMatchObject(refusal);
  expect(runs).toBe(1);

  const memoryBytesMax = 24 * 2 ** 20;
  const args = ["diff-tree", "-r", "--raw", repository.git("rev-parse", "main"), bomb];
  const command = { gitDir: repository.path, args, timeMsMax: 60_000, outputBytesMax: 1_000_000_000, memoryBytesMax };
  const { code, words } = await bench.git.run(command, bench.signal);
  expect({ code, words }).toEqual({ code: 128, words: expect.stringMatching(/memory/i) });
});

test("lists are kept within their bound, the last one always, and a failure is not kept", async () => {
  const index = (files: number): TreeIndex => ({ list: new Array(files), entries: new Map(), folderFiles: new Map() });
  const cache = createIndexCache(10);
  let loads = 0;
  const get = (key: string, files: number) =>
    cache.get(key, async () => {
      loads += 1;
      return index(files);
    });
  await get("a", 4);
  await get("b", 4);
  await get("a", 4);
  await get("c", 4);
  expect(loads).toBe(3);
  await get("a", 4);
  expect(loads).toBe(3);
  await get("b", 4);
  expect(loads).toBe(4);
  await get("huge", 100);
  await get("huge", 100);
  expect(loads).toBe(5);
  await expect(cache.get("bad", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await get("bad", 1);
  expect(loads).toBe(6);
});

test("copies many blobs into one file, in order, and says which one is not there", async () => {
  const { tree } = await bench.tree({ "a.md": "a\n", "b/c.md": "", "d.md": Buffer.alloc(200_000, "x\n") });
  const idOf = new Map((await tree.list()).map((entry) => [entry.path, entry.oid]));
  const ids = ["d.md", "b/c.md", "none.md", "a.md"].map((path) => idOf.get(path) ?? "0".repeat(40));
  const path = await tree.copyOut(ids);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readFile(path, "latin1")).replaceAll("x\n", "").replace(/[\da-f]{40}/g, "id")).toBe(
    "id blob 200000\n\nid blob 0\n\nid missing\nid blob 2\na\n\n",
  );
  await expect(tree.copyOut(ids, AbortSignal.abort())).rejects.toThrow("aborted");
  await rm(path);
});
