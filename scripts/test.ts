// Everything that must pass before a change lands: static checks in parallel, then the tests.
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
  { name: "types", command: process.execPath, args: ["node_modules/typescript-7/bin/tsc", "--noEmit"] },
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
/** More failures than this are not caused by a busy machine. */
const secondTriesMax = 3;

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

const waiting = [...checks];
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
  const args = process.argv.slice(2);
  const first = await runTests("tests", args);
  for (const name of first.skipped) console.log(`Not run: ${name}`);
  if (first.skipped.length > 0 && process.env.CI) {
    console.error("In CI every test must run: install what the tests above name.");
    return false;
  }
  if (first.hasPassed) return true;
  const files = first.failedFiles;
  if (files.length > secondTriesMax) return false;
  // An unhandled error without a failed test cannot be attributed to a file.
  const second = await runTests("second try", files.length > 0 ? [...files, "--no-file-parallelism"] : args);
  if (second.hasPassed)
    console.log(
      `\nFailed at first and passed at a second try, alone. That is a bug of the test or of Emend; please report it:\n${files.map((file) => `  ${file}`).join("\n")}`,
    );
  return second.hasPassed;
}

interface TestRun {
  hasPassed: boolean;
  failedFiles: string[];
  /** With the reason, if the test gave one. */
  skipped: string[];
}

async function runTests(name: string, args: readonly string[]): Promise<TestRun> {
  const report = join(runDir, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const hasPassed = await passes(
    { name, command: process.execPath, args: ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args] },
    "as it comes",
    { ...process.env, TMPDIR: runDir },
  );
  let files: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[] = [];
  try {
    files = JSON.parse(readFileSync(report, "utf8")).testResults;
  } catch {
    // It ended before any test did.
  }
  return {
    hasPassed,
    failedFiles: files.filter(({ status }) => status === "failed").map((file) => relative(process.cwd(), file.name)),
    skipped: files.flatMap((file) =>
      file.assertionResults
        .filter(({ status }) => status !== "passed" && status !== "failed")
        .map(({ fullName }) => `${relative(process.cwd(), file.name)}: ${fullName}`),
    ),
  };
}
