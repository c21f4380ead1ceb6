// Everything that must pass before a change lands: static checks in parallel, then the tests. With test files as
// arguments, only these tests.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join, relative } from "node:path";

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

const isWhole = process.argv.length === 2;
const waiting = isWhole ? [...checks] : [];
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
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(", ")}`);
  process.exitCode = 1;
}

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

async function testsPass(): Promise<boolean> {
  const report = join(runDir, "tests.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const hasPassed = await passes(
    {
      name: "tests",
      command: process.execPath,
      args: ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...process.argv.slice(2)],
    },
    "as it comes",
    { ...process.env, TMPDIR: runDir },
  );
  const skipped = skippedTests(report);
  for (const name of skipped) console.log(`Not run: ${name}`);
  const isMissing = process.env.CI !== undefined && skipped.some((name) => !isForOthers(name));
  if (isMissing) console.error("In CI every test must run: install what the tests above name.");
  return hasPassed && !isMissing;
}

/** A test's name says which machines and users have what it needs. */
function isForOthers(name: string): boolean {
  const isRoot = process.getuid?.() === 0;
  return (
    (name.includes("(Linux)") && process.platform !== "linux") ||
    (name.includes("(root)") && !isRoot) ||
    (name.includes("(not root)") && isRoot)
  );
}

function skippedTests(report: string): string[] {
  let files: { name: string; assertionResults: { status: string; fullName: string }[] }[] = [];
  try {
    files = JSON.parse(readFileSync(report, "utf8")).testResults;
  } catch {
    // It ended before any test did.
  }
  return files.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ fullName }) => `${relative(process.cwd(), file.name)}: ${fullName}`),
  );
}
