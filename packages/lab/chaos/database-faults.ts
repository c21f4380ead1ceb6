import { setTimeout as pause } from "node:timers/promises";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { spawnServing } from "@emend/testkit/spawn-process.ts";
import { shortTimes, spawnWorker } from "@emend/testkit/worker-control.ts";
import { seedProjects } from "../bench/database.ts";
import { type Experiment, type Setting, scaled } from "./experiment.ts";
import { postJob, untilAllEnded } from "./post-job.ts";

const script = new URL("../../testkit/src/api-process.ts", import.meta.url);
const claimMsMax = 15_000;

export const databaseFaults: Experiment = {
  name: "database-faults",
  claim:
    "20 Postgres kills, 200 cut connections, 20 half-open ones, under load: nothing acknowledged is lost, claiming again within 15 s",
  async run(setting) {
    const { pool, url, random, history } = setting;
    const proxy = await startDatabaseProxy(url);
    const { projectIds, key } = await seedProjects(pool, 4);
    const node = await spawnServing(script, [proxy.url]);
    const options = { ...shortTimes, crashesMax: 10_000, retriesMax: 10_000, concurrency: 8 };
    const worker = await spawnWorker({
      databaseUrl: proxy.url,
      name: "worker",
      forge: { lostShare: 0.1, seed: 1 },
      options,
    });
    let isOver = false;
    let posted = 0;
    const client = async (projectId: string) => {
      while (!isOver) {
        posted += 1;
        const prompt = JSON.stringify({ steps: 2, turnMs: 20 });
        await postJob(() => ({ ports: [node.port], projectId, key }), prompt, `post ${posted}`, history);
        await pause(random() * 100);
      }
    };
    try {
      const load = Promise.all(projectIds.map(client));
      for (const fault of shuffled(faultsOf(setting), random)) {
        await pause(50 + random() * 200);
        if (fault === "cut") proxy.cut();
        else if (fault === "half-open") {
          proxy.silence();
          await pause(1_500);
          proxy.restore();
        } else await setting.killPostgres?.();
        history.add({ kind: "fault", what: fault });
        if (fault !== "cut") await untilClaimedAgain(setting);
      }
      isOver = true;
      await load;
      await untilAllEnded(pool);
    } finally {
      isOver = true;
      await worker.kill();
      await node.stop();
      await proxy.close();
    }
  },
};

type Fault = "kill" | "cut" | "half-open";

function faultsOf(setting: Setting): Fault[] {
  const many = (fault: Fault, count: number) => Array.from({ length: scaled(count, setting) }, () => fault);
  return [...(setting.killPostgres ? many("kill", 20) : []), ...many("cut", 200), ...many("half-open", 20)];
}

async function untilClaimedAgain({ pool, history }: Setting): Promise<void> {
  const startedAt = performance.now();
  const runs = () =>
    pool
      .query<{ count: number }>("select coalesce(sum(runs), 0)::int as count from jobs")
      .then(({ rows }) => rows[0]?.count);
  let before: number | undefined;
  for (;;) {
    const now = await runs().catch(() => undefined);
    if (before !== undefined && now !== undefined && now > before) break;
    before ??= now;
    await pause(25);
  }
  history.add({ kind: "recovered", afterMs: performance.now() - startedAt, msMax: claimMsMax });
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const pile = [...values];
  for (let n = pile.length - 1; n > 0; n -= 1) {
    const other = Math.floor(random() * (n + 1));
    [pile[n], pile[other]] = [pile[other] as T, pile[n] as T];
  }
  return pile;
}
