// npm run test:cluster [-- kill freeze] breaks a highly available database under load and counts what is lost: three
// Postgres under Patroni with etcd, HAProxy and PgBouncer, two api and three worker nodes. Root runs it in network
// namespaces, one for each database server; others run it on loopback, without the partition.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createLogger } from "@emend/base/logger.ts";
import { startFarModel } from "@emend/testkit/far-model.ts";
import { startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { giteaVendor } from "@emend/testkit/forges/gitea.ts";
import { makeReachableDir } from "@emend/testkit/reachable-dir.ts";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { findRunUser } from "../../server/src/db/embedded/run-tool.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { type ClusterFigures, writeSection } from "../bench/sections.ts";
import { type Entry, isGood, judge, openHistory } from "../chaos/judge.ts";
import { untilAllEnded } from "../chaos/post-job.ts";
import { startDatabaseCluster } from "./database-cluster.ts";
import { startEmendNodes } from "./emend-nodes.ts";
import { faults } from "./faults.ts";
import { judgeEffects } from "./judge-effects.ts";
import { type Load, startLoad } from "./load.ts";
import { enterNamespaces } from "./machines.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, keep: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
const unknown = positionals.filter((name) => faults.every((one) => one.name !== name));
if (values.help || unknown.length > 0) {
  (values.help ? console.log : console.error)(
    `usage: npm run test:cluster -- [${faults.map(({ name }) => name).join(" | ")}] [--write] [--keep]`,
  );
  process.exit(values.help ? 0 : 2);
}
enterNamespaces(fileURLToPath(import.meta.url));

type Strike = ClusterFigures["strikes"][number];

/** The load before and after each fault. */
const calmMs = 5_000;
/** How long after Patroni has a new primary a create must be accepted. */
const acceptedMsMax = 30_000;

/** What must be closed at the end, the last one first. */
const closing: (() => unknown)[] = [];
let isHeld = false;
try {
  isHeld = await run();
} finally {
  for (const close of closing.reverse()) await close();
}
process.exit(isHeld ? 0 : 1);

async function run(): Promise<boolean> {
  const user = findRunUser();
  const dir = await makeReachableDir(user);
  console.log(`logs in ${dir}, kept if it fails`);
  closing.push(async () => isHeld && !values.keep && rm(dir, { recursive: true, force: true }));
  const history = openHistory(join(dir, "history.jsonl"));
  const cluster = await startDatabaseCluster(dir, user);
  closing.push(cluster.stop);
  const far = await startFarEnd(giteaVendor);
  const model = await startSlowModel();
  closing.push(far.close, model.stop);
  const pool = createPool({ url: cluster.primaryUrl, connectionsMax: 4, log: createLogger({ level: "silent" }) });
  closing.push(() => pool.end());
  const settings = { ...cluster.env, ...model.environment, EMEND_MODEL: "compatible/llama-4" };
  const nodes = await startEmendNodes(dir, settings, far);
  closing.push(nodes.stop);
  await createFarEnds(pool);
  const load = startLoad(nodes, history);

  const strikes: Strike[] = [];
  for (const fault of faults.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    if (fault.needsNamespaces && !cluster.hasNamespaces) {
      console.log(`${fault.what}: NOT RUN, only root can make network namespaces`);
      continue;
    }
    await pause(calmMs);
    const node = await cluster.findRole(fault.role);
    load.hurry(true);
    const startedAt = performance.now();
    const repairNodes = fault.takesNodes ? await nodes.kill() : null;
    const repair = await fault.strike(node);
    history.add({ kind: "fault", what: fault.what });
    if (fault.role === "leader") await cluster.untilPrimaryBut(node);
    const readyAt = performance.now();
    const acceptedMs = (await untilAccepted(load, readyAt)) - readyAt;
    load.hurry(false);
    await pause(calmMs);
    await repair();
    await repairNodes?.();
    await cluster.untilWhole();
    history.add({ kind: "recovered", afterMs: acceptedMs, msMax: acceptedMsMax });
    const newPrimaryMs = fault.role === "leader" ? readyAt - startedAt : null;
    const strike = { what: fault.what, newPrimaryMs, acceptedMs, pauseMs: longestPauseMs(load, startedAt) };
    sayStrike(strike);
    strikes.push(strike);
  }

  await load.stop();
  await untilAllEnded(pool);
  const { projectId } = nodes.limited();
  const wrong: readonly Entry[] = await judgeEffects(pool, far, { projectId, quota: nodes.quota });
  const verdict = await judge(pool, [...history.entries(), ...wrong]);
  console.log(
    `${isGood(verdict) ? "held" : "BROKEN"}: ${verdict.jobs} jobs, ${verdict.faults} faults, ${verdict.lost} lost, ` +
      `${verdict.duplicated} duplicated, ${verdict.unexpected.length} unexpected`,
  );
  for (const what of verdict.unexpected.slice(0, 10)) console.log(`  ${what}`);
  if (values.write) await writeSection("cluster", "npm run test:cluster -- --write", { strikes, verdict });
  return isGood(verdict);
}

/** Two turns, slow enough that every fault meets jobs at work. */
function startSlowModel() {
  return startFarModel((turn, _, request) => {
    const edit = { path: "guides/start.md", oldText: "API token", newText: "access key" };
    const finish = { title: "Say access key", summary: "It is called access key." };
    const [name, input] = turn === 0 ? ["edit_file", edit] : ["finish", finish];
    const toolCalls = [{ id: `call_${request}`, name, arguments: JSON.stringify(input) }];
    return { response: { toolCalls }, options: { latency: 200 } };
  });
}

async function untilAccepted(load: Load, sinceMs: number): Promise<number> {
  for (;;) {
    const found = load.acceptedAt().find((atMs) => atMs >= sinceMs);
    if (found !== undefined) return found;
    await pause(50);
  }
}

/** The longest time without an accepted create, of those that ended after the fault. */
function longestPauseMs(load: Load, startedAt: number): number {
  const times = load.acceptedAt();
  return Math.max(...times.map((atMs, n) => (atMs >= startedAt ? atMs - (times[n - 1] ?? atMs) : 0)));
}

function sayStrike({ what, newPrimaryMs, acceptedMs, pauseMs }: Strike): void {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const primary = newPrimaryMs === null ? "" : `new primary after ${seconds(newPrimaryMs)}, `;
  console.log(
    `${what}: ${primary}first accepted create ${seconds(acceptedMs)} later, longest pause ${seconds(pauseMs)}`,
  );
}
