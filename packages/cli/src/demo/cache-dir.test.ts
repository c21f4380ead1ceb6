import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cacheDir } from "./cache-dir.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "emend-home-"));
});
afterEach(() => rm(home, { recursive: true }));

test("lies in the person's cache", () => {
  expect(cacheDir({ HOME: home }).startsWith(home)).toBe(true);
  expect(cacheDir({ HOME: "/", XDG_CACHE_HOME: home })).toBe(join(home, "emend"));
});

test("falls back to a temporary folder where the home cannot be written", async () => {
  const file = join(home, "file");
  await writeFile(file, "");
  expect(cacheDir({ HOME: file, TMPDIR: join(home, "tmp") })).toContain(join(home, "tmp"));
});
