// Static checks in parallel, then the tests. `npm test` runs those that a developer needs after a change, `npm run test:all`
// the wide tier too (files named *.wide.test.ts, and all rows of large tables). With test files as arguments, only these.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

interface Stage {
  name: string;
  command: string;
  args: readonly string[];
}

/** Two at a time, for a small machine; the longest first. */
const checksAtOnce = 2;
const checks: readonly Stage[] = [
  {
    name: "types",
    command: process.execPath,
    // Each of several checkers would infer the shared types again, on cores that other checks use.
    args: ["node_modules/typescript-7/bin/tsc", "--noEmit", "--checkers", "1"],
  },
  {
    name: "boundaries",
    command: process.execPath,
    args: [
      "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
      "packages",
      "--config",
      ".dependency-cruiser.cjs",
      "--output-type",
      "err",
    ],
  },
  {
    name: "types of the dashboard",
    command: process.execPath,
    args: ["node_modules/typescript-7/bin/tsc", "--noEmit", "--project", "packages/dashboard"],
  },
  { name: "unused", command: process.execPath, args: ["node_modules/knip/bin/knip.js"] },
  { name: "lint", command: "node_modules/.bin/biome", args: ["check", "."] },
];

/** Prints a stage's output as one block, unless it runs alone. */
async function passes(
  stage: Stage,
  output: "at the end" | "as it comes",
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const startedAt = performance.now();
  const stdio = output === "as it comes" ? "inherit" : "pipe";
  const child = spawn(stage.command, stage.args, { env, stdio: ["ignore", stdio, stdio] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (part) => (text += part));
  // A program that cannot be started fails only its own stage.
  const [code] = await once(child, "close").catch((error: Error) => [error.message]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (code === 0) console.log(`${text}${stage.name}: passed in ${seconds} s`);
  else console.error(`${text}\n${stage.name}: failed (${code}) after ${seconds} s`);
  return code === 0;
}

const [tier, ...files] = process.argv.slice(2);
const selected = tier === "all" ? files : process.argv.slice(2);
const startedAt = performance.now();
const waiting = selected.length === 0 ? [...checks] : [];
const failed: string[] = [];
async function checkNext(): Promise<void> {
  const stage = waiting.shift();
  if (!stage) return;
  if (!(await passes(stage, "at the end"))) failed.push(stage.name);
  await checkNext();
}

await Promise.all(Array.from({ length: checksAtOnce }, checkNext));
// Runs even if a check failed: on a platform where one tool does not work, the tests still say what does.
const runDir = makeRunDir();
process.on("exit", () => rmSync(runDir, { recursive: true, force: true }));
// Ctrl-C reaches the tests too. They end first, and then this folder goes.
process.on("SIGINT", () => undefined);
if (!(await testsPass())) failed.push("tests");
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(
  `${failed.length > 0 ? `Failed: ${failed.join(", ")}` : "All passed"}, in ${Math.floor(seconds / 60)} min ${seconds % 60} s`,
);
if (failed.length > 0) process.exitCode = 1;

/**
 * The tests' temporary folder. It is in memory if there is enough: a run creates and removes thousands of databases and
 * repositories, and on a disk that can take a tenth of its processor time.
 */
function makeRunDir(): string {
  const isInMemory = process.env.TMPDIR === undefined && hasRoom("/dev/shm");
  const dir = mkdtempSync(join(isInMemory ? "/dev/shm" : tmpdir(), "emend-test-"));
  // The user of the tests' Postgres must be able to enter it.
  chmodSync(dir, 0o755);
  if (!isInMemory || canExecuteIn(dir)) return dir;
  rmSync(dir, { recursive: true });
  return mkdtempSync(join(tmpdir(), "emend-test-"));
}

function hasRoom(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return Math.min(bavail * bsize, freemem()) >= 6 * 2 ** 30;
  } catch {
    return false;
  }
}

/** Containers often mount memory without the right to execute files, which tests need. */
function canExecuteIn(dir: string): boolean {
  const file = join(dir, "can-execute");
  writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(file).status === 0;
}

function testsPass(): Promise<boolean> {
  const mode = tier === "all" || selected.length > 0 ? [] : ["--mode", "quick"];
  return passes(
    {
      name: "tests",
      command: process.execPath,
      args: ["node_modules/vitest/vitest.mjs", "run", "--reporter=./scripts/test-reporter.ts", ...mode, ...selected],
    },
    "as it comes",
    { ...process.env, TMPDIR: runDir },
  );
}
