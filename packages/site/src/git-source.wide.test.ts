import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import { createRandom, pick } from "../test/support/random-site.ts";
import { type GitSource, gitEnvironment, openGitSource, parseBlobs } from "./git-source.ts";
import { indexSource } from "./references/source-index.ts";
import type { SiteTree } from "./types.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "emend-source-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function git(...args: string[]): void {
  const config = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
  execFileSync("git", ["-C", dir, ...config, ...args], { env: gitEnvironment() });
}

const author = {
  GIT_AUTHOR_NAME: "T",
  GIT_AUTHOR_EMAIL: "t@example.com",
  GIT_COMMITTER_NAME: "T",
  GIT_COMMITTER_EMAIL: "t@example.com",
};

/** The contents of files, from one file that has them all. */
async function copied(tree: SiteTree, paths: readonly string[]): Promise<(Buffer | null)[]> {
  const hashOf = new Map((await tree.list()).map(({ path, hash = "" }) => [path, hash]));
  const file = (await tree.copyOut?.(paths.map((path) => hashOf.get(path) ?? "none"))) ?? "";
  const output = readFileSync(file);
  rmSync(file);
  return [...parseBlobs(output, paths.length)];
}

async function contentsOf(tree: SiteTree): Promise<[string, string | undefined][]> {
  const found: [string, string | undefined][] = [];
  const paths = (await tree.list()).map(({ path }) => path);
  const all = [...paths, "nowhere.ts"];
  for (const content of await copied(tree, all)) found.push([all[found.length] as string, content?.toString()]);
  return found;
}

test("lists a commit from the list of another, and copies its files into one", async () => {
  git("init", "-q");
  mkdirSync(join(dir, "lib"));
  writeFileSync(join(dir, "lib/b.ts"), "one");
  writeFileSync(join(dir, "lib/gone.ts"), "x");
  writeFileSync(join(dir, "z.ts"), "same\n\n");
  git("add", "-A");
  git("commit", "-q", "-m", "one");
  rmSync(join(dir, "lib/gone.ts"));
  writeFileSync(join(dir, "lib/b.ts"), "two");
  writeFileSync(join(dir, "lib/a.ts"), "");
  git("add", "-A");
  git("commit", "-q", "-m", "two");
  const source = openGitSource(dir);
  const other = openGitSource(dir);
  await source.at("HEAD~1");
  const derived = await source.at("HEAD");
  const whole = await other.at("HEAD");
  const named = async (tree: SiteTree) => (await tree.list()).map(({ path, hash }) => [path, hash]);
  expect(await named(derived)).toEqual(await named(whole));
  expect(await contentsOf(derived)).toEqual([
    ["lib/a.ts", ""],
    ["lib/b.ts", "two"],
    ["z.ts", "same\n\n"],
    ["nowhere.ts", undefined],
  ]);
  const folder = openGitSource(join(dir, "lib"));
  await folder.at("HEAD~1");
  expect((await (await folder.at("HEAD")).list()).map(({ path }) => path)).toEqual(["a.ts", "b.ts"]);
  for (const one of [source, other, folder]) one.close();
});

test.each(["sha1", "sha256"])("lists the same files from any other commit's list (%s)", async (format) => {
  const folder = mkdtempSync(join(tmpdir(), "emend-source-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const run = (input: string, ...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { input, env: { ...gitEnvironment(), ...author } })
      .toString()
      .trim();
  run("", "init", "-q", `--object-format=${format}`);
  const blobs = ["one", "two"].map((text) => run(text, "hash-object", "-w", "--stdin"));
  const empty = run("", "commit-tree", "-m", "empty", run("", "mktree"));
  const random = createRandom(7);
  const paths = ["a", "a/b", "a/b/c", "a/d", "a.ts", "b", "b/a", "b/ü é", "ß.ts", "z/y/x/w.ts"];
  const commits = Array.from({ length: 5 }, () => {
    const chosen = paths.filter(() => random(10) < 6);
    const files = chosen.filter((path) => !chosen.some((other) => other.startsWith(`${path}/`)));
    const entries = files.map((path) => {
      const mode = pick(random, ["100644", "100644", "100755", "120000", "160000"]);
      return `${mode} ${mode === "160000" ? empty : pick(random, blobs)}\t${path}\n`;
    });
    run("", "read-tree", "--empty");
    run(entries.join(""), "update-index", "--index-info");
    return run("", "commit-tree", "-m", "state", run("", "write-tree"));
  });
  const listOf = async (source: GitSource, commit: string) =>
    (await (await source.at(commit)).list()).map(({ path, hash }) => `${path} ${hash}`);
  cpSync(join(folder, ".git"), join(folder, "bare"), { recursive: true });
  run("", "-C", "bare", "config", "core.bare", "true");
  for (const place of [".", "a", "z/y", "two\nlines", "bare"]) {
    mkdirSync(join(folder, place), { recursive: true });
    const derived = openGitSource(join(folder, place));
    for (const commit of [...commits, empty, ...commits.toReversed()]) {
      const whole = openGitSource(join(folder, place));
      expect(await listOf(derived, commit)).toEqual(await listOf(whole, commit));
      whole.close();
    }
    derived.close();
  }
});

describe("a tree that is not as usual is listed anew", () => {
  let folder: string;
  const run = (input: string | Buffer, ...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { input, env: { ...gitEnvironment(), ...author } })
      .toString()
      .trim();
  const blobOf = (text: string) => run(text, "hash-object", "-w", "--stdin");
  type Entry = [mode: string, name: string | Buffer, id: string];
  const treeOf = (...entries: Entry[]) => {
    const parts = entries.flatMap(([mode, name, id]) => [`${mode} `, name, "\0", Buffer.from(id, "hex")]);
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
    return run(bytes, "hash-object", "-w", "-t", "tree", "--literally", "--stdin");
  };
  const listsOf = async (place: string, ...trees: string[]) => {
    mkdirSync(join(folder, place), { recursive: true });
    const source = openGitSource(join(folder, place));
    const lists: string[][] = [];
    for (const tree of trees) {
      const commit = run("", "commit-tree", "-m", "state", tree);
      lists.push((await (await source.at(commit)).list()).map(({ path }) => path));
    }
    source.close();
    return lists;
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "emend-source-"));
    run("", "init", "-q");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("if a folder whose name has a space is not there", async () => {
    const inner = treeOf(["40000", "my code", treeOf(["100644", "a.ts", blobOf("one")])]);
    const other = treeOf(["100644", "b.ts", blobOf("one")]);
    expect(await listsOf("my code", inner, other, inner)).toEqual([["a.ts"], [], ["a.ts"]]);
  });

  it("if an old program wrote its modes", async () => {
    const padded = (name: string) => treeOf(["040000", "src", treeOf(["100644", name, blobOf("one")])]);
    expect(await listsOf(".", padded("a.ts"), padded("b.ts"))).toEqual([["src/a.ts"], ["src/b.ts"]]);
  });

  it("if names are not UTF-8", async () => {
    const [one, two] = [0xfe, 0xff].map((byte) => ["100644", Buffer.from([0x61, byte]), blobOf("one")] as Entry);
    const lists = await listsOf(".", treeOf(one as Entry, two as Entry), treeOf(one as Entry));
    expect(lists).toEqual([["a\ufffd", "a\ufffd"], ["a\ufffd"]]);
  });

  it("if it repeats a folder thousands of times, or thousands of files are new beside a deep folder", async () => {
    const repeated = (text: string) => {
      let tree = treeOf(["100644", "a.ts", blobOf(text)]);
      const times = (id: string) => Array.from({ length: 60 }, (_, i) => ["40000", `d${i + 10}`, id] as Entry);
      for (let level = 0; level < 2; level++) tree = treeOf(...times(tree));
      return tree;
    };
    const content = blobOf("new");
    const files = Array.from({ length: 2100 }, (_, i) => ["100644", `f${i + 1000}`, content] as Entry);
    const wide = treeOf(["40000", "d", repeated("three")], ...files);
    const lists = await listsOf(".", repeated("one"), repeated("two"), wide);
    expect(lists.map((list) => list.length)).toEqual([3600, 3600, 5700]);
  });
});

test("cuts a file that is too large to look at, and reads the next", async () => {
  writeFileSync(join(dir, "huge.ts"), Buffer.alloc(9_000_000, "x\n"));
  git("add", "-A");
  git("commit", "-q", "-m", "huge");
  const source = openGitSource(dir);
  await source.at("HEAD~1");
  const tree = await source.at("HEAD");
  const [huge, small] = await Promise.all([tree.read("huge.ts"), tree.read("z.ts")]);
  expect([huge?.length, Buffer.from(small ?? []).toString()]).toEqual([8 * 1024 * 1024, "same\n\n"]);
  source.close();
});

test("splits git's output into files, and notices that its end is missing", () => {
  const output = Buffer.from("aa blob 3\nx\ny\nbb missing\ncc blob 0\n\ndd blob 5\n12345\n");
  const found = (end: number) => [...parseBlobs(output.subarray(0, end), 4)].map((content) => content?.toString());
  expect(found(output.length)).toEqual(["x\ny", undefined, "", "12345"]);
  for (let end = 0; end < output.length - 1; end++) expect(() => found(end)).toThrow("too soon");
});

test("reads the other files of a clone that lacks one, and does not take its names for gone", async () => {
  for (let i = 0; i < 600; i++) writeFileSync(join(dir, `lib/${i}.ts`), `export const name${i} = 1;\n`);
  git("add", "-A");
  git("commit", "-q", "-m", "many");
  const source = openGitSource(dir);
  const id = (await (await source.at("HEAD")).list()).find(({ path }) => path === "lib/7.ts")?.hash ?? "";
  rmSync(join(dir, ".git/objects", id.slice(0, 2), id.slice(2)));
  const other = openGitSource(dir);
  const { has, read, skipped } = await indexSource(await other.at("HEAD"));
  expect([has("name6"), has("name7"), has("name599"), read]).toEqual([true, false, true, 602]);
  expect([...skipped].filter(([path]) => path.startsWith("lib/"))).toEqual([["lib/7.ts", "not in the clone"]]);
  git("mv", "lib/8.ts", "lib/8-moved.ts");
  git("rm", "-q", "--cached", "lib/7.ts");
  writeFileSync(join(dir, "lib/new.ts"), "export const fresh = 1;\n");
  git("add", "lib/new.ts");
  git("commit", "-q", "-m", "moved");
  expect([...(await other.renames("HEAD~1", "HEAD"))]).toEqual([["lib/8.ts", "lib/8-moved.ts"]]);
  for (const one of [source, other]) one.close();
});

test("says that git could not copy, and leaves no file behind", async () => {
  const source = openGitSource(dir);
  const tree = await source.at("HEAD");
  source.close();
  const before = readdirSync(tmpdir());
  await expect(tree.copyOut?.(["z.ts"], AbortSignal.abort())).rejects.toThrow("aborted");
  rmSync(join(dir, ".git"), { recursive: true });
  await expect(tree.copyOut?.(["z.ts"])).rejects.toThrow(`git stopped while it read ${dir}`);
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith("emend-") && !before.includes(name));
  expect(left.filter((name) => /^emend-[\da-f-]{36}$/.test(name))).toEqual([]);
});
