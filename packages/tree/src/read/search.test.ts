import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOverlay } from "../overlay.ts";
import type { CommitTree, SearchQuery } from "../tree.ts";

let bench: MirrorBench;
let tree: CommitTree;

beforeAll(async () => {
  bench = openMirrorBench({ searchMsMax: 2_000, fileBytesMax: 1_000_000 });
  ({ tree } = await bench.tree({
    "a.md": "Use an API token.\nAn api token again.\n",
    "docs/b.md": "first\nAPI token (v2)\r\nlast\n",
    "docs/c.md": "Überall, ÜBERALL\n",
    "docs/deep/d.md": "nothing here\n",
    "docs-old/e.md": "API token\n",
    "data.bin": Buffer.from("API token\0binary"),
    "long.md": `${"x".repeat(300_000)} API token ${"y".repeat(300_000)}\n`,
    "huge.md": `API token\n${"z\n".repeat(600_000)}`,
    "latin1.md": Buffer.from("caf\xe9 API token\n", "latin1"),
    "slow.md": `${"a".repeat(20_000)}b\n`,
    ".gitattributes": "*.md binary -diff\n",
  }));
});
afterAll(() => bench.close());

const literal = (pattern: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
  pattern,
  kind: "literal",
  matchesMax: 100,
  ...more,
});
const regex = (pattern: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
  ...literal(pattern, more),
  kind: "regex",
});
const places = async (query: SearchQuery, from: Pick<CommitTree, "search"> = tree) =>
  (await from.search(query)).matches.map(({ path, line }) => `${path}:${line}`);

test("finds literal text with path, line and the line itself; binary and huge files are passed over", async () => {
  const { matches, truncated } = await tree.search(literal("API token"));
  expect(truncated).toBe(false);
  expect(matches.map(({ path, line }) => `${path}:${line}`)).toEqual([
    "a.md:1",
    "docs-old/e.md:1",
    "docs/b.md:2",
    "latin1.md:1",
    "long.md:1",
  ]);
  expect(matches[2]?.text).toBe("API token (v2)");
  expect(matches[3]?.text).toBe("caf\ufffd API token");
  expect(matches[4]?.text).toHaveLength(1_001);
});

test("literal means literal, regular expressions are extended ones", async () => {
  expect(await places(literal("token (v2)"))).toEqual(["docs/b.md:2"]);
  expect(await places(regex("token \\(v[0-9]+\\)"))).toEqual(["docs/b.md:2"]);
  expect(await places(regex("^(first|last)$"))).toEqual(["docs/b.md:1", "docs/b.md:3"]);
  expect(await places(literal("-e"))).toEqual([]);
});

test("ignores case beyond ASCII", async () => {
  expect(await places(literal("api TOKEN", { ignoreCase: true, under: "a.md" }))).toEqual(["a.md:1", "a.md:2"]);
  expect(await places(literal("überall", { ignoreCase: true }))).toEqual(["docs/c.md:1"]);
});

test("stays below a folder, not below its namesakes", async () => {
  expect(await places(literal("API token", { under: "docs" }))).toEqual(["docs/b.md:2"]);
  expect(await places(literal("API token", { under: "docs/" }))).toEqual(["docs/b.md:2"]);
  expect(await places(literal("API token", { under: "*" }))).toEqual([]);
  for (const under of ["..", "/etc", "docs/../..", "docs//b.md", ":(top)"]) {
    expect(await places(literal("API token", { under }))).toEqual([]);
  }
});

test("stops at the most matches that were asked for, and says so", async () => {
  const { matches, truncated } = await tree.search(literal("API token", { matchesMax: 2 }));
  expect(matches.map(({ path }) => path)).toEqual(["a.md", "docs-old/e.md"]);
  expect(truncated).toBe(true);
  expect((await tree.search(literal("API token", { matchesMax: 5 }))).truncated).toBe(false);
});

describe("bad patterns", () => {
  test.each([
    [regex("(unclosed"), /unmatched parenthesis/],
    [regex("["), /unmatched bracket/],
    [regex("*a"), /nothing to repeat/],
    [regex("a(?=b)"), /Lookahead/],
    [regex("a{99999999}"), /The search failed/],
    [literal(""), /pattern is empty/],
    [literal("two\nlines"), /one line/],
    [literal("nul\0"), /one line/],
    [literal("x".repeat(5_000)), /too long/],
  ])("%j are told as the caller's mistake", async (query, words) => {
    await expect(tree.search(query)).rejects.toMatchObject({
      code: "invalid_request",
      publicMessage: expect.stringMatching(words),
    });
    const overlay = await createOverlay(tree);
    await overlay.set("x.md", Buffer.from("x"));
    await expect(overlay.search(query)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("an expression that explodes is cut off", async () => {
    const query = regex("^(((a*)*)*)*\\1\\2c$", { under: "slow.md" });
    await expect(tree.search(query)).rejects.toMatchObject({
      code: "invalid_request",
      publicMessage: expect.stringContaining("stopped after 2 s"),
    });
  });
});

test("with edits it finds what is there now, in the same dialect and order", async () => {
  const overlay = await createOverlay(tree);
  await overlay.set("a.md", Buffer.from("Use an access key.\n"));
  await overlay.delete("docs-old/e.md");
  await overlay.set("docs/b.md", Buffer.from("now on line one: API token\n"));
  await overlay.set("docs/new.md", Buffer.from("one\nAPI token (v2)\r\nthree\n"));
  await overlay.set("docs/same.md", Buffer.from("one\nAPI token (v2)\r\nthree\n"));
  await overlay.set("new.bin", Buffer.from("API token\0"));
  const found = ["docs/b.md:1", "docs/new.md:2", "docs/same.md:2", "latin1.md:1", "long.md:1"];
  expect(await places(literal("API token"), overlay)).toEqual(found);
  expect(await places(regex("token \\(v[[:digit:]]\\)"), overlay)).toEqual(["docs/new.md:2", "docs/same.md:2"]);
  expect(await places(literal("API token", { under: "docs" }), overlay)).toEqual(found.slice(0, 3));
  expect(await places(literal("API token", { under: "docs/new.md" }), overlay)).toEqual(["docs/new.md:2"]);
  expect(await places(literal("API token", { under: ".." }), overlay)).toEqual([]);
  const cut = await overlay.search(literal("API token", { matchesMax: 4 }));
  expect(cut.truncated).toBe(true);
  expect(cut.matches.map(({ path }) => path)).toEqual(["docs/b.md", "docs/new.md", "docs/same.md", "latin1.md"]);
});

test("an overlay finds exactly what git finds once the edits are committed", async () => {
  const { mirror, overlay, commit } = await bench.tree({
    "a.md": "x1 foo\n",
    "b.md": "foo.bar\nx22\n",
    "c/d.md": "ẞ\n",
  });
  await overlay.set("b.md", Buffer.from("x22 foo\nbaz\n\nfoo bar\r\n"));
  await overlay.set("c/ü.md", Buffer.from("foo\u00a0bar x333"));
  await overlay.delete("a.md");
  const author = { name: "n", email: "e" };
  const input = { jobId: "job_1", base: commit, entries: overlay.entries(), message: "m", author, date: new Date(0) };
  const { commitId } = await mirror.commit(input, bench.signal);
  const committed = mirror.treeAt(commitId);
  for (const pattern of ["foo", "^x[0-9]{2,}", "bar$", "foo.bar", "(foo|baz)", "[^a-z ]", "^$", "\\bfoo\\b", "ß|ẞ"]) {
    for (const ignoreCase of [true, false]) {
      const query = regex(pattern, { ignoreCase });
      expect(await overlay.search(query), pattern).toEqual(await committed.search(query));
    }
  }
});
