// Reports every figure as a ratio to a reference in the same run: `npm run bench`, or one area with `npm run bench --
// site`. `npm run bench -- redraw` measures nothing: it writes the tables and plots of docs/results.md again from their figures.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { redrawSections } from "../packages/lab/bench/sections.ts";

const benches: Readonly<Record<string, readonly string[]>> = {
  http: ["packages/lab/bench/get-job.ts", "packages/lab/bench/create-job.ts"],
  runs: ["packages/lab/bench/first-step.ts", "packages/lab/bench/failover.ts"],
  mirror: ["packages/lab/bench/mirror.ts"],
  agent: ["packages/lab/bench/agent-turns.ts"],
  history: ["packages/lab/bench/large-history.ts"],
  memory: ["packages/lab/bench/job-memory.ts"],
  rivals: ["packages/lab/bench/rivals.ts"],
  scale: ["packages/lab/bench/scale.ts"],
  start: ["packages/cli/bench/start.ts", "packages/runners/programs/bench-start.ts"],
  demo: ["packages/cli/bench/demo.ts"],
  truth: ["packages/site/bench/truth.ts", "packages/lab/bench/claims.ts"],
  site: ["packages/site/bench/site.ts", "packages/site/bench/faults.ts"],
  tests: ["scripts/test.ts"],
};

const [area, ...args] = process.argv.slice(2);
if (area === "redraw") {
  await redrawSections();
  process.exit();
}
const names = [...Object.keys(benches), "redraw"];
if (area === "--help" || area === "-h") {
  console.log(`usage: npm run bench -- [${names.join(" | ")}] [--write]`);
  process.exit();
}
if (area !== undefined && !Object.hasOwn(benches, area)) {
  console.error(`there is no bench "${area}"; there are: ${names.join(", ")}`);
  process.exit(2);
}
const files =
  area === undefined
    ? Object.values(benches)
        .flat()
        .filter((file) => file !== "scripts/test.ts")
    : (benches[area] ?? []);
let failed = false;
for (const file of files) {
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const { status } = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", file, ...args], {
    stdio: "inherit",
    env: { ...process.env, EMEND_TEST_TIMES: "1" },
  });
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
