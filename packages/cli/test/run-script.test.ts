// Costly: it runs on a Node that is too old for the rest.
import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTempDir, removeDir } from "./support/temp-dir.ts";

const script = join(import.meta.dirname, "..", "..", "..", "scripts", "run.mjs");
const platform = `${process.platform}-${process.arch}`;
/** Makes Node report an old version. */
const asOld = `data:text/javascript,${encodeURIComponent(
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.17.1" } });',
)}`;

let dir: string;
beforeAll(async () => {
  dir = await makeTempDir();
  await cp(script, join(dir, "scripts", "run.mjs"));
  await writeFile(join(dir, "hello.mjs"), 'console.log("ran by", process.execPath);');
});
afterAll(() => removeDir(dir));

function run(options: { isOld: boolean; env?: Record<string, string> }) {
  const args = [...(options.isOld ? ["--import", asOld] : []), join(dir, "scripts", "run.mjs"), "hello.mjs"];
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, { env: { PATH: process.env.PATH, ...options.env } }, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

test("an old Node without another says which one is needed, and does not end npm install", async () => {
  const { code, stdout, stderr } = await run({ isOld: true });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^Emend needs Node 22\.18 or newer, .*Install Node 24 from https:\/\/nodejs\.org.*\n$/);
  expect((await run({ isOld: true, env: { npm_lifecycle_event: "prepare" } })).code).toBe(0);
});

test.each([`node-${platform}`, `node-bin-${platform}`])("only an old Node starts %s", async (name) => {
  const folder = join(dir, "node_modules", name, "bin");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "node"), '#!/bin/sh\necho "fallback started"\n', { mode: 0o755 });
  expect((await run({ isOld: true })).stdout).toBe("fallback started\n");
  expect((await run({ isOld: false })).stdout).toBe(`ran by ${process.execPath}\n`);
  await removeDir(join(dir, "node_modules"));
});
