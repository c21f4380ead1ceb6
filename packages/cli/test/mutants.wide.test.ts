import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const table: { name: string; file: string; find: string; replace: string; tests: string[] }[] = JSON.parse(
  readFileSync(join(root, "scripts/mutants.json"), "utf8"),
);

test("each guard's text is in its file exactly once, and its tests exist", () => {
  expect(table.length).toBeGreaterThanOrEqual(80);
  expect(new Set(table.map(({ name }) => name)).size).toBe(table.length);
  const wrong = table.filter(({ file, find, replace, tests }) => {
    const isThere = existsSync(join(root, file)) && readFileSync(join(root, file), "utf8").split(find).length === 2;
    return !isThere || find === replace || tests.length === 0 || !tests.every((path) => existsSync(join(root, path)));
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test("guards that are taken away are noticed: a sample of those with quick tests", async () => {
  const args = [
    join(root, "scripts/mutants.ts"),
    "--only",
    "publish/src/quiet-text.ts",
    "--sample",
    "2",
    "--skip-baseline",
  ];
  const env = { ...process.env, EMEND_TEST_DATABASE_URL: inject("testServer").url };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toContain("2 of 2 guards noticed as missing");
});
