// Everything that must pass before a change lands: static checks in parallel, then the tests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
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
async function passes(stage: Stage, output: "at the end" | "as it comes"): Promise<boolean> {
  const startedAt = performance.now();
  const stdio = output === "as it comes" ? "inherit" : "pipe";
  const child = spawn(stage.command, stage.args, { stdio: ["ignore", stdio, stdio] });
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
const reports = mkdtempSync(join(tmpdir(), "emend-test-"));
process.on("exit", () => rmSync(reports, { recursive: true, force: true }));
if (!(await testsPass())) failed.push("tests");
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(", ")}`);
  process.exitCode = 1;
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
  const report = join(reports, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const hasPassed = await passes(
    { name, command: process.execPath, args: ["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args] },
    "as it comes",
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
