import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createDisk } from "./disk.ts";

const dir = await mkdtemp(join(tmpdir(), "emend-disk-"));
afterAll(async () => {
  await chmod(dir, 0o700);
  await rm(dir, { recursive: true });
});

test("below its reserve there is no room, and the setting is named", async () => {
  const disk = createDisk({ dirs: [dir], reserveBytes: Number.MAX_SAFE_INTEGER });
  expect(await disk.problem()).toMatch(/almost full.*EMEND_DISK_RESERVE_MB/);
  expect(await disk.examine()).toBe(await disk.problem());
});

test("a folder with room has no problem, and nothing stays in it", async () => {
  const disk = createDisk({ dirs: [dir], reserveBytes: 0 });
  expect([await disk.problem(), await disk.examine()]).toEqual([null, null]);
  expect(await disk.freeBytes()).toBeGreaterThan(0);
  expect(await readdir(dir)).toEqual([]);
});

test("a file system that refuses writes is found by a write, and remembered", async () => {
  // Its figures say that there is room, as those of a quota or a read-only mount do.
  const disk = createDisk({ dirs: ["/proc/self"], reserveBytes: 0 });
  expect(await disk.problem()).toBe(null);
  expect(await disk.examine()).toMatch(/^\/proc\/self cannot be written \(E[A-Z]+\)\.$/);
  expect(await disk.problem()).toBe(await disk.examine());
});

test("a folder that cannot be made is named, and not called full", async () => {
  const disk = createDisk({ dirs: [dir, "/proc/nowhere/deeper"], reserveBytes: 0 });
  expect(await disk.problem()).toMatch(/^\/proc\/nowhere\/deeper cannot be written \(E[A-Z]+\)\.$/);
});

test("a process that writes nowhere has no problem", async () => {
  const disk = createDisk({ dirs: [], reserveBytes: 1 });
  expect([await disk.problem(), await disk.examine()]).toEqual([null, null]);
});
