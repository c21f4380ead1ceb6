// Everything that must hold before a change lands: what only reads the source, side by side, then the tests.
import { spawn } from "node:child_process";
import { once } from "node:events";

interface Stage {
  name: string;
  command: string;
  args: readonly string[];
}

/** As many at a time as a small machine has cores; the longest first. */
const checksAtOnce = 2;
const checks: readonly Stage[] = [
  { name: "types", command: process.execPath, args: ["node_modules/typescript/bin/tsc", "--noEmit"] },
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
    args: ["node_modules/typescript/bin/tsc", "--noEmit", "--project", "packages/dashboard"],
  },
  { name: "unused", command: process.execPath, args: ["node_modules/knip/bin/knip.js"] },
  { name: "lint", command: "node_modules/.bin/biome", args: ["check", "."] },
];
const tests: Stage = {
  name: "tests",
  command: process.execPath,
  args: ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)],
};

/** Its output in one piece, unless nothing runs beside it. */
async function passes(stage: Stage, output: "at the end" | "as it comes"): Promise<boolean> {
  const startedAt = performance.now();
  const stdio = output === "as it comes" ? "inherit" : "pipe";
  const child = spawn(stage.command, stage.args, { stdio: ["ignore", stdio, stdio] });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (part) => (text += part));
  // A program that cannot be started fails its own stage, and no other.
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
// Also after a check that failed: on a platform that one tool does not serve, the tests still say what works.
if (!(await passes(tests, "as it comes"))) failed.push(tests.name);
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(", ")}`);
  process.exitCode = 1;
}
