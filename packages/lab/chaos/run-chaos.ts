// Breaks things on purpose and counts what is lost: `npm run chaos`, or some of it with `npm run chaos -- worker-kills
// --seed 7 --scale 0.1`. The same seed gives the same faults; when they fall is the machine's affair. `--without GUARD`, or
// `--without all`, takes a guard away in a copy of the sources: the checker must see it.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { createLogger } from "@emend/base/logger.ts";
import { findProcess } from "@emend/testkit/processes.ts";
import { seededRandom } from "@emend/testkit/seeded-random.ts";
import { bundleTestPrograms } from "@emend/testkit/test-programs.ts";
import { createPool, type Pool } from "../../server/src/db/pool.ts";
import { describeMachine, readFigures } from "../../site/bench/results.ts";
import { startBenchDatabase } from "../bench/database.ts";
import { type ChaosFigures, type GuardFigures, writeSection } from "../bench/sections.ts";
import { conversations } from "./conversations.ts";
import { databaseFaults } from "./database-faults.ts";
import type { Experiment } from "./experiment.ts";
import { frozenWorkers } from "./frozen-workers.ts";
import { isGood, openHistory, type Verdict } from "./judge.ts";
import { racingClaims, racingCreates, repeatedPosts } from "./races.ts";
import { rollingRestarts } from "./rolling-restarts.ts";
import { runExperiment } from "./run-experiment.ts";
import { soak } from "./soak.ts";
import { upgrade } from "./upgrade.ts";
import { guardNames, guards, tryWithout } from "./without-guard.ts";
import { failover, workerKills } from "./worker-kills.ts";

const experiments: readonly Experiment[] = [
  workerKills,
  failover,
  frozenWorkers,
  conversations,
  databaseFaults,
  repeatedPosts,
  racingClaims,
  racingCreates,
  rollingRestarts,
  upgrade,
  soak,
];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    scale: { type: "string" },
    history: { type: "string" },
    without: { type: "string" },
    from: { type: "string" },
    write: { type: "boolean" },
    help: { type: "boolean", short: "h" },
    /** A migrated and empty database for one experiment. Without it, each has its own Postgres. */
    database: { type: "string" },
  },
});
const seed = Number(values.seed ?? randomInt(1_000_000));
const scale = Number(values.scale ?? 1);
// The two-hour soak runs only by name.
const names = positionals.length > 0 ? positionals : experiments.filter((one) => one !== soak).map(({ name }) => name);
const unknown = names.filter((name) => experiments.every((one) => one.name !== name));
const isGuard = values.without === undefined || ["all", ...guardNames].includes(values.without);
if (values.help || unknown.length > 0 || !(scale > 0) || !Number.isSafeInteger(seed) || !isGuard) {
  (values.help ? console.log : console.error)(
    `usage: npm run chaos -- [${experiments.map(({ name }) => name).join(" | ")}] [--seed N] [--scale 0.1] [--history FILE] [--write]
       npm run chaos -- upgrade [--from COMMIT]
       npm run chaos -- --without ${[...guardNames, "all"].join("|")} [--seed N] [--write]`,
  );
  process.exit(values.help ? 0 : 2);
}
if (values.without !== undefined) {
  console.log(`seed ${seed}`);
  const names = values.without === "all" ? guardNames : [values.without];
  const found: Record<string, GuardFigures["guards"][string]> = {};
  for (const name of names) {
    const { isSeen, verdict, seconds } = await tryWithout(name, { seed });
    console.log(`${isSeen ? "noticed " : "NOT SEEN"} without ${name}, ${seconds.toFixed(0)} s: ${verdict}`);
    found[name] = {
      experiment: guards[name]?.experiment ?? "",
      verdict: verdict.replace(/; \d+ s$/, ""),
      day: describeMachine().slice(0, 10),
      seed,
    };
    if (!isSeen) process.exitCode = 1;
  }
  const earlier = await readFigures<GuardFigures>("guards");
  const command = `npm run chaos -- --without ${values.without} --seed ${seed} --write`;
  if (values.write) await writeSection("guards", command, { guards: { ...earlier?.guards, ...found } });
  process.exit();
}

// Processes by the hundred are killed soon: most of their time would be loading.
process.env.EMEND_TEST_PROGRAMS = await bundleTestPrograms();
console.log(`seed ${seed}, scale ${scale}`);
for (const experiment of experiments.filter(({ name }) => names.includes(name))) {
  console.log(`\n${experiment.name}: ${experiment.claim}`);
  const database = values.database ? openDatabase(values.database) : await startBenchDatabase("silent");
  const history = openHistory(values.history ? `${values.history}.${experiment.name}.jsonl` : null);
  const startedAt = performance.now();
  try {
    const setting = {
      ...database,
      ...(!values.database && { killPostgres: () => killPostgres(database.pool) }),
      random: seededRandom(seed),
      history,
      scale,
      from: values.from,
    };
    const verdict = await runExperiment(experiment, setting);
    const slowest = Math.max(0, ...verdict.recoveredMs);
    console.log(
      `  ${isGood(verdict) ? "held" : "BROKEN"}: ${verdict.jobs} jobs, ${verdict.faults} faults, ${verdict.lost} lost, ` +
        `${verdict.duplicated} duplicated, ${verdict.unexpected.length} unexpected` +
        `${verdict.recoveredMs.length > 0 ? `, slowest recovery ${(slowest / 1000).toFixed(1)} s` : ""}` +
        `; ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
    );
    for (const what of verdict.unexpected.slice(0, 10)) console.log(`  ${what}`);
    const measured = history
      .entries()
      .flatMap((one) => (one.kind === "measured" ? [`${one.what}: ${Math.round(one.value)} ${one.unit}`] : []));
    for (const line of measured) console.log(`  ${line}`);
    if (values.write) await writeVerdict(experiment.name, verdict, measured);
    if (!isGood(verdict)) process.exitCode = 1;
  } finally {
    await database.close();
  }
}

/** Experiments run on different days, so each keeps the line of its last run. */
async function writeVerdict(name: string, verdict: Verdict, measured: readonly string[]): Promise<void> {
  const earlier = await readFigures<ChaosFigures>("chaos");
  const own = { machine: describeMachine(), scale, seed, measured, ...verdict };
  const experiments = { ...earlier?.experiments, [name]: own };
  await writeSection("chaos", `npm run chaos -- ${name} --scale ${scale} --seed ${seed} --write`, { experiments });
}

function openDatabase(url: string): { url: string; pool: Pool; close(): Promise<void> } {
  const pool = createPool({ url, connectionsMax: 10, log: createLogger({ level: "silent" }) });
  return { url, pool, close: () => pool.end() };
}

/** The parent of a connection's process is Postgres itself. */
async function killPostgres(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const { parent = 0 } = findProcess(rows[0]?.pid ?? 0) ?? {};
  if (parent === 0) throw new Error("Postgres was not found");
  process.kill(parent, "SIGKILL");
}
