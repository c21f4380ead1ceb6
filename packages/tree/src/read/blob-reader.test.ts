import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeRepository, type TestRepository } from "@emend/testkit/make-repository.ts";
import { listProcesses } from "@emend/testkit/processes.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGit } from "../git/git.ts";
import { type BlobReader, createBlobCache, createBlobReader } from "./blob-reader.ts";

let dir: string;
let repository: TestRepository;
let reader: BlobReader;
let ids: string[];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "emend-reader-"));
  repository = makeRepository(join(dir, "a.git"));
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, file) => [`${file}`, `${file}\n`.repeat(file)]));
  repository.commit({ ...files, large: Buffer.alloc(3_000_000, "abc\n") });
  const listed = repository
    .git("ls-tree", "main")
    .split("\n")
    .map((line) => line.split(/\s/));
  ids = Array.from({ length: 300 }, (_, file) => listed.find((entry) => entry[3] === `${file}`)?.[2] ?? "");
  reader = createBlobReader(createGit({}), repository.path);
});
afterAll(async () => {
  await reader.close();
  rmSync(dir, { recursive: true, force: true });
});

/** The process that reads this repository. */
function readers(): number[] {
  const isReader = (command: string) => command.startsWith(`git --git-dir=${repository.path} cat-file`);
  return listProcesses().flatMap(({ pid, command }) => (isReader(command) ? [pid] : []));
}

test("many reads at once go through one process, each with its own bytes", async () => {
  const contents = await Promise.all(ids.map((id) => reader.read(id)));
  for (const [file, content] of contents.entries()) expect(content?.toString()).toBe(`${file}\n`.repeat(file));
  expect(await reader.read(repository.git("rev-parse", "main:large"))).toHaveLength(3_000_000);
  expect(readers()).toHaveLength(1);
});

test("a missing object differs from an existing one", async () => {
  const [one, none, other] = await Promise.all([
    reader.read(ids[1] ?? ""),
    reader.read("5".repeat(40)),
    reader.read(ids[2] ?? ""),
  ]);
  expect([one?.toString(), none, other?.toString()]).toEqual(["1\n", null, "2\n2\n"]);
});

test("a process that dies is started again, and pending reads are answered", async () => {
  await reader.read(ids[1] ?? "");
  const [pid = 0] = readers();
  const asked = Promise.all(ids.map((id) => reader.read(id)));
  process.kill(pid, "SIGKILL");
  expect((await asked).map((content) => content?.length)).toEqual(ids.map((_, file) => `${file}\n`.length * file));
  expect(readers()).not.toContain(pid);
});

test("closing answers pending reads and ends the process; a later read starts a new one", async () => {
  const asked = Promise.all(ids.slice(0, 50).map((id) => reader.read(id)));
  await reader.close();
  expect(await asked).toHaveLength(50);
  expect(readers()).toEqual([]);
  expect((await reader.read(ids[3] ?? ""))?.toString()).toBe("3\n3\n3\n");
});

test("the cache keeps what was used last, within its bytes, and nothing huge", () => {
  const cache = createBlobCache(1_600);
  for (let blob = 0; blob < 16; blob += 1) cache.put(`${blob}`, Buffer.alloc(100));
  expect(cache.get("0")).toHaveLength(100);
  cache.put("16", Buffer.alloc(100));
  expect(cache.get("0")).toHaveLength(100);
  expect(cache.get("1")).toBeUndefined();
  cache.put("huge", Buffer.alloc(101));
  expect(cache.get("huge")).toBeUndefined();
});
