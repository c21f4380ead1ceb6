// Removes each guard of scripts/mutants.json, one at a time, and runs the tests that must fail: npm run mutants [--
// --only WORDS] [--sample N] [--skip-baseline]
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startThrowAwayServer } from "@emend/testkit/throw-away-server.ts";
import { changeSource, root, type SourceChange } from "./source-copy.ts";
import { openTrials } from "./trials.ts";

interface Mutant extends SourceChange {
  /** The guard, in words. */
  name: string;
  /** Test files of which at least one test must fail. */
  tests: string[];
}
interface Outcome {
  passed: number;
  failed: string[];
  /** Why no test ran: a file that does not load proves nothing. */
  broken: string[];
}

async function run(copy: string, tests: readonly string[]): Promise<Outcome> {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  // Stops at the first failure.
  const args = ["--mode", "whole", ...tests, "--reporter=json", `--outputFile=${report}`, "--bail=1"];
  const { output } = await trials.vitest(copy, args);
  let files: { name: string; message?: string; assertionResults: { status: string; fullName: string }[] }[];
  try {
    files = JSON.parse(readFileSync(report, "utf8")).testResults;
  } catch {
    return { passed: 0, failed: [], broken: [output] };
  }
  const results = files.flatMap((file) => file.assertionResults);
  return {
    passed: results.filter(({ status }) => status === "passed").length,
    failed: results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
    broken: files.filter((file) => file.assertionResults.length === 0).map((file) => `${file.name}: ${file.message}`),
  };
}

/** Why the removal went unnoticed. Undefined if a test failed. */
async function tryMutant(copy: string, { tests, ...change }: Mutant): Promise<string | undefined> {
  let undo: () => void;
  try {
    undo = changeSource(copy, change);
  } catch (error) {
    return (error as Error).message;
  }
  try {
    const { passed, failed, broken } = await run(copy, tests);
    if (failed.length > 0) return undefined;
    return broken.length > 0 ? `the tests did not load: ${broken[0]}` : `all ${passed} tests passed without it`;
  } finally {
    undo();
  }
}

const { values } = parseArgs({
  options: { only: { type: "string" }, sample: { type: "string" }, "skip-baseline": { type: "boolean" } },
});
const table: Mutant[] = JSON.parse(readFileSync(join(root, "scripts/mutants.json"), "utf8"));
const chosen = table.filter(({ name, file }) => `${name} ${file}`.includes(values.only ?? ""));
const every = values.sample ? Math.max(1, Math.floor(chosen.length / Number(values.sample))) : 1;
const mutants = chosen.filter((_, index) => index % every === 0).slice(0, Number(values.sample ?? chosen.length));
if (mutants.length === 0) {
  console.error(`No guard's name or file has ${JSON.stringify(values.only ?? "")} in it: see scripts/mutants.json.`);
  process.exit(2);
}

// One for all runs.
const given = process.env.EMEND_TEST_DATABASE_URL;
const server = given ? undefined : await startThrowAwayServer();
const trials = openTrials(given ?? server?.url ?? "", mutants.length);
if (!values["skip-baseline"]) {
  const tests = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const { passed, failed, broken } = await run(trials.copies[0] ?? "", tests);
  if (failed.length > 0 || broken.length > 0) {
    console.error(`With every guard in place these fail: ${[...failed, ...broken].join("\n")}`);
    process.exit(1);
  }
  console.log(`With every guard in place ${passed} tests pass.`);
}
const survivors: string[] = [];
await trials.each(mutants, async (copy, mutant) => {
  const why = await tryMutant(copy, mutant);
  console.log(why ? `survived  ${mutant.name}: ${why}` : `noticed   ${mutant.name}`);
  if (why) survivors.push(mutant.name);
});
await server?.stop();
console.log(`\n${mutants.length - survivors.length} of ${mutants.length} guards noticed as missing.`);
process.exitCode = survivors.length > 0 ? 1 : 0;
