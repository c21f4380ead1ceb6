import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { RepositoryFile, TestRepository } from "@emend/testkit/make-repository.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOverlay } from "../overlay.ts";
import type { OverlayEntry } from "../tree.ts";
import type { Mirror } from "./mirror.ts";

let bench: MirrorBench;
let mirror: Mirror;
let repository: TestRepository;
let base: string;

const notUtf8 = Buffer.from([0x64, 0x2f, 0xff, 0xfe, 0x2e, 0x6d, 0x64]);
const notUtf8Folder = Buffer.concat([Buffer.from("only-"), Buffer.from([0xe9]), Buffer.from("/x.md")]);
const odd: [string | Buffer, RepositoryFile][] = [
  ["crlf.md", "one\r\ntwo\r\n"],
  ["bom.md", "\ufeffhello\n"],
  ["latin1.md", Buffer.from([0xe9, 0x0a])],
  ["no-newline.md", "end"],
  ["empty.md", ""],
  ["nul.bin", Buffer.from([0, 1, 2, 0])],
  ["run.sh", { mode: "100755", content: "#!/bin/sh\n" }],
  ["link", { mode: "120000", content: "../../etc/passwd" }],
  ["module", { submodule: "2".repeat(40) }],
  ['quo"te\\back\tslash\nline.md', "odd name\n"],
  ["docs/ünï cödé.md", "unicode\n"],
  [notUtf8, "unreadable name\n"],
  [notUtf8Folder, "unreadable folder\n"],
  [`docs/${"n".repeat(300)}`, "a 300-byte name\n"],
  [".gitattributes", "*.md text eol=crlf filter=evil diff=evil working-tree-encoding=UTF-16\n"],
  ["docs/a.md", "a\n"],
  ["docs/b.md", "b\n"],
];

beforeAll(async () => {
  bench = openMirrorBench();
  repository = bench.repository();
  base = repository.commit(new Map(odd));
  mirror = await bench.mirrors.open("prj_1");
  await mirror.fetchBase(
    { remote: { url: repository.url, authorization: null }, jobId: "job_1", baseRef: null },
    bench.signal,
  );
});
afterAll(() => bench.close());

function commit(entries: readonly OverlayEntry[], more: Partial<Parameters<Mirror["commit"]>[0]> = {}) {
  const author = { name: "Emend", email: "noreply@emend.invalid" };
  const date = new Date("2025-01-02T03:04:05.678Z");
  return mirror.commit({ jobId: "job_1", base, entries, message: "Fix links", author, date, ...more }, bench.signal);
}

/** `ls-tree` of the mirror, byte for byte. */
function treeOf(id: string): string[] {
  const args = [`--git-dir=${join(bench.mirrorsDir, "prj_1.git")}`, "ls-tree", "-r", "-z", id];
  return spawnSync("git", args).stdout.toString("latin1").split("\0").filter(Boolean);
}

const entry = (path: string, content: string | null, mode: OverlayEntry["mode"] = "100644"): OverlayEntry => ({
  path,
  mode,
  content: content === null ? null : Buffer.from(content),
});

test("what a change does not touch survives byte for byte", async () => {
  const { commitId } = await commit([entry("docs/a.md", "changed\n")]);
  const before = treeOf(base);
  const after = treeOf(commitId);
  expect(before).toHaveLength(odd.length);
  expect(after.filter((line) => !before.includes(line))).toHaveLength(1);
  expect(before.filter((line) => !after.includes(line))).toHaveLength(1);
});

test("files are read byte for byte, whatever attributes say", async () => {
  const tree = mirror.treeAt(base);
  for (const [path, file] of odd) {
    if (Buffer.isBuffer(path) || file === null) continue;
    const expected =
      typeof file === "string" || Buffer.isBuffer(file)
        ? file
        : "mode" in file && file.mode === "100755"
          ? file.content
          : null;
    const content = await tree.read(path);
    expect(content, path).toEqual(expected === null ? null : Buffer.from(expected));
  }
});

test("names that are no UTF-8 are left out of the list, and their folder still counts as one", async () => {
  const tree = mirror.treeAt(base);
  const paths = (await tree.list()).map(({ path }) => path);
  expect(paths).toHaveLength(odd.length - 2);
  expect(paths.some((path) => path.startsWith("d/"))).toBe(false);
  const overlay = await createOverlay(tree);
  await expect(overlay.set("d", Buffer.from("x"))).rejects.toThrow(/it is a folder/);
});

test("edited bytes are committed as they are: CRLF, BOM, NUL, no newline, nothing at all", async () => {
  const contents = ["one\r\ntwo\r\n", "\ufeffx", "a\0b", "end", "", "data 5\ndone\ndone\n"];
  const entries = contents.map((content, index) => entry(`new/${index}.md`, content));
  const { commitId } = await commit([...entries, entry("run.sh", "#!/bin/sh\n:\n", "100755")]);
  const tree = mirror.treeAt(commitId);
  for (const { path, content } of entries) expect(await tree.read(path)).toEqual(content);
  expect((await tree.index()).entries.get("run.sh")?.mode).toBe("100755");
});

test("odd names are quoted: edits, deletions and new files with line feeds, quotes, backslashes and umlauts", async () => {
  const name = 'quo"te\\back\tslash\nline.md';
  const entries = [
    entry(name, null),
    entry("docs/ünï cödé.md", "edited\n"),
    entry(' lead and "trail" ', "1"),
    entry("new\nline\n😀.md", "2"),
  ];
  const { commitId } = await commit(entries);
  const paths = (await mirror.treeAt(commitId).list()).map(({ path }) => path);
  expect(paths).not.toContain(name);
  expect(paths).toEqual(expect.arrayContaining([' lead and "trail" ', "new\nline\n😀.md", "docs/ünï cödé.md"]));
});

test("deletes, moves, a file for a folder and a folder for a file in one commit", async () => {
  const { commitId } = await commit([
    entry("docs/a.md", null),
    entry("docs/b.md", null),
    entry("guides/a.md", "a\n"),
    entry("crlf.md", null),
    entry("crlf.md/index.md", "a folder now\n"),
    entry("docs/ünï cödé.md", null),
    entry(`docs/${"n".repeat(300)}`, null),
    entry("docs", "a file now\n"),
    entry("empty.md", null),
  ]);
  const tree = mirror.treeAt(commitId);
  expect((await tree.read("docs"))?.toString()).toBe("a file now\n");
  expect((await tree.read("crlf.md/index.md"))?.toString()).toBe("a folder now\n");
  const { patch } = await mirror.diff({ from: base, to: commitId }, bench.signal);
  expect(patch.toString().match(/^diff --git /gm)).toHaveLength(8);
  expect((await tree.list()).map(({ path }) => path)).not.toContain("empty.md");
});

test("the same input gives the same ids, in any order, on another machine, at another time", async () => {
  const entries = [entry("docs/a.md", "1\n"), entry("docs/b.md", null), entry("z.md", "2\n")];
  const first = await commit(entries);
  const again = await commit(entries.toReversed(), { jobId: "job_other" });
  const elsewhere = openMirrorBench();
  try {
    const twin = await elsewhere.mirrors.open("prj_2");
    const remote = { url: repository.url, authorization: null };
    await twin.fetchBase({ remote, jobId: "job_1", baseRef: null }, elsewhere.signal);
    const author = { name: "Emend", email: "noreply@emend.invalid" };
    const date = new Date("2025-01-02T03:04:05.999Z");
    const input = { jobId: "job_1", base, entries, message: "Fix links\n", author, date };
    expect(await twin.commit(input, elsewhere.signal)).toEqual(first);
  } finally {
    await elsewhere.close();
  }
  expect(again).toEqual(first);
  const body = `tree ${first.treeId}\nparent ${base}\nauthor Emend <noreply@emend.invalid> 1735787045 +0000\ncommitter Emend <noreply@emend.invalid> 1735787045 +0000\n\nFix links\n`;
  const id = createHash("sha1")
    .update(`commit ${Buffer.byteLength(body)}\0${body}`)
    .digest("hex");
  expect(first.commitId).toBe(id);
});

test("a run that is repeated with other edits replaces its commit and keeps its pin", async () => {
  const first = await commit([entry("docs/a.md", "1\n")], { jobId: "job_repeat" });
  const second = await commit([entry("docs/a.md", "2\n")], { jobId: "job_repeat" });
  expect(second.commitId).not.toBe(first.commitId);
  expect(
    repository.git(`--git-dir=${join(bench.mirrorsDir, "prj_1.git")}`, "rev-parse", "refs/emend/run/job_repeat"),
  ).toBe(second.commitId);
});

test("names and messages cannot forge a header", async () => {
  const author = { name: "Eve <eve@x> 0 +0000\ncommitter Mallory", email: "a@b>\nparent 0" };
  const { commitId } = await commit([entry("docs/a.md", "1\n")], { author, message: "subject\0\n\nbody \ud800" });
  const raw = spawnSync("git", [`--git-dir=${join(bench.mirrorsDir, "prj_1.git")}`, "cat-file", "commit", commitId]);
  const [head = "", message] = raw.stdout.toString().split("\n\n", 2);
  expect(head.split("\n").map((line) => line.split(" ")[0])).toEqual(["tree", "parent", "author", "committer"]);
  expect(message).toBe("subject");
});

test("a base that is not here is a fault, not a commit without a parent", async () => {
  await expect(commit([entry("a.md", "1")], { base: "3".repeat(40) })).rejects.toMatchObject({ code: "internal" });
  await expect(commit([entry("a.md", "1")], { base: "main" })).rejects.toMatchObject({ code: "internal" });
});
