import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gitEnvironment, openGitSource, parseBlobs } from "./git-source.ts";
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

async function contentsOf(tree: SiteTree): Promise<[string, string | undefined][]> {
  const found: [string, string | undefined][] = [];
  const paths = (await tree.list()).map(({ path }) => path);
  for await (const batch of tree.readMany?.([...paths, "nowhere.ts"]) ?? [])
    for (const [path, content] of batch) found.push([path, content?.toString()]);
  return found;
}

test("lists a commit from the list of another, and reads its files as one stream", async () => {
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

test("cuts a file that is too large to look at, and reads the next", async () => {
  writeFileSync(join(dir, "huge.ts"), Buffer.alloc(9_000_000, "x\n"));
  git("add", "-A");
  git("commit", "-q", "-m", "huge");
  const source = openGitSource(dir);
  await source.at("HEAD~1");
  const tree = await source.at("HEAD");
  const [huge, small] = await Promise.all([tree.read("huge.ts"), tree.read("z.ts")]);
  expect([huge?.length, Buffer.from(small ?? []).toString()]).toEqual([8 * 1024 * 1024, "same\n\n"]);
  const streamed: (string | number | undefined)[] = [];
  for await (const batch of tree.readMany?.(["huge.ts", "z.ts", "huge.ts", "lib/b.ts"]) ?? [])
    for (const [path, content] of batch) streamed.push(path === "huge.ts" ? content?.length : content?.toString());
  expect(streamed).toEqual([8 * 1024 * 1024, "same\n\n", 8 * 1024 * 1024, "two"]);
  source.close();
});

test("splits git's output into files, wherever its chunks end", async () => {
  const output = Buffer.from("aa blob 3\nx\ny\nbb missing\ncc blob 0\n\ndd blob 5\n12345\n");
  for (let size = 1; size <= output.length; size++) {
    const chunks = Array.from({ length: Math.ceil(output.length / size) }, (_, i) =>
      output.subarray(i * size, (i + 1) * size),
    );
    const found: (string | undefined)[] = [];
    for await (const batch of parseBlobs(Readable.from(chunks)))
      for (const content of batch) found.push(content?.toString());
    expect(found).toEqual(["x\ny", undefined, "", "12345"]);
  }
});
