import type { RepositoryFile } from "@emend/testkit/make-repository.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OverlayEntry } from "../tree.ts";

const lines = (...changed: readonly [number, string][]) =>
  Array.from({ length: 20 }, (_, index) => new Map(changed).get(index) ?? `line ${index}`).join("\n");

let bench: MirrorBench;
let projects = 0;
beforeAll(() => {
  bench = openMirrorBench();
});
afterAll(() => bench.close());

/** A job edits the base while people change the branch. */
async function meet(
  base: Record<string, RepositoryFile>,
  ours: Record<string, string | null>,
  theirs: Record<string, RepositoryFile> | null,
) {
  projects += 1;
  const repository = bench.repository(`moved-${projects}`);
  repository.commit(base);
  const mirror = await bench.mirrors.open(`prj_moved${projects}`);
  const remote = { url: repository.url, authorization: null };
  const pinned = await mirror.fetchBase({ remote, jobId: "job_1", baseRef: null }, bench.signal);
  const now = theirs ? repository.commit(theirs) : pinned.commit;
  const entries = Object.entries(ours).map(
    ([path, content]): OverlayEntry => ({
      path,
      mode: "100644",
      content: content === null ? null : Buffer.from(content),
    }),
  );
  const author = { name: "Emend", email: "emend@example.com" };
  const commit = { jobId: "job_1", base: pinned.commit, entries, message: "m", author, date: new Date(0) };
  const take = () => mirror.mergeMovedBase({ remote, branch: "main", ours: commit }, bench.signal);
  return { repository, mirror, remote, pinned, now, commit, take, moved: await take() };
}
const shown = (entries: readonly OverlayEntry[]) =>
  Object.fromEntries(entries.map(({ path, content }) => [path, content?.toString() ?? null]));

test("a base that stayed, and one that is gone, ask for nothing", async () => {
  const { repository, take, moved } = await meet({ "a.md": "a\n" }, { "a.md": "b\n" }, null);
  expect(moved).toEqual({ kind: "unmoved" });
  repository.git("update-ref", "-d", "refs/heads/main");
  expect(await take()).toEqual({ kind: "unmoved" });
});

test("changes to other files and to other lines of the same file go together", async () => {
  const { moved, now, mirror } = await meet(
    { "a.md": lines(), "b.md": "b\n", "gone.md": "x\n" },
    { "a.md": lines([2, "ours"]), "new/page.md": "new\n", "gone.md": null },
    { "a.md": lines([17, "theirs"]), "b.md": "their b\n", "c.md": "their c\n" },
  );
  if (moved.kind !== "merged") throw new Error(moved.kind);
  expect(moved.base).toBe(now);
  expect(shown(moved.entries)).toEqual({
    "a.md": lines([2, "ours"], [17, "theirs"]),
    "new/page.md": "new\n",
    "gone.md": null,
  });
  expect(await mirror.pinnedJobs()).toEqual(["job_1"]);
});

test("the same merge gives the same entries, however often it is asked for", async () => {
  const { moved, take } = await meet({ "a.md": lines() }, { "a.md": lines([2, "o"]) }, { "a.md": lines([17, "t"]) });
  expect(moved.kind).toBe("merged");
  expect(await take()).toEqual(moved);
});

test("what the branch holds by now needs no edit", async () => {
  const { moved } = await meet({ "a.md": "a\n", "b.md": "b\n" }, { "a.md": "A\n" }, { "a.md": "A\n", "b.md": "B\n" });
  expect(moved).toMatchObject({ kind: "merged", entries: [] });
});

test.each<[string, Record<string, RepositoryFile>, Record<string, string | null>, Record<string, RepositoryFile>]>([
  ["the same line", { "a.md": "a\n" }, { "a.md": "ours\n" }, { "a.md": "theirs\n" }],
  ["a file edited here and deleted there", { "a.md": "a\n" }, { "a.md": "ours\n" }, { "a.md": null }],
  ["a file deleted here and edited there", { "a.md": "a\n", "b.md": "" }, { "a.md": null }, { "a.md": "theirs\n" }],
  ["a page that both added", { "b.md": "" }, { "a.md": "ours\n" }, { "a.md": "theirs\n" }],
  ["bytes that are no text", { "a.md": "\0a" }, { "a.md": "\0ours" }, { "a.md": "\0theirs" }],
])("%s is a conflict, and the job's base stays", async (_, base, ours, theirs) => {
  const { moved, now, pinned, mirror, remote } = await meet(base, ours, theirs);
  expect(moved).toEqual({ kind: "conflict", base: now, paths: ["a.md"] });
  await mirror.ensureBase({ remote, jobId: "job_1", commit: pinned.commit }, bench.signal);
});

test("a file in the place of a folder is a conflict", async () => {
  const { moved } = await meet({ "b.md": "" }, { "a/page.md": "ours\n" }, { a: "a file now\n" });
  expect(moved.kind).toBe("conflict");
});

test("a page that was renamed there is no other page's edit here", async () => {
  const text = lines();
  const { moved } = await meet(
    { "a.md": text },
    { "a.md": lines([3, "ours"]) },
    { "a.md": null, ".github/a.md": text },
  );
  expect(moved).toMatchObject({ kind: "conflict", paths: ["a.md"] });
});

test("a branch that was rewritten is merged by its files", async () => {
  const { take, repository } = await meet({ "a.md": lines(), "b.md": "b\n" }, { "a.md": lines([2, "ours"]) }, null);
  repository.commit({ "a.md": lines([17, "anew"]) }, { from: null });
  const moved = await take();
  if (moved.kind !== "merged") throw new Error(moved.kind);
  expect(shown(moved.entries)).toEqual({ "a.md": lines([2, "ours"], [17, "anew"]) });
});
