// POST job → the agent's first turn in a worker process, beside one NOTIFY round trip in the same run. Aim: p50 ≤ 25 ms.
import { setTimeout as pause } from "node:timers/promises";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { spawnServing } from "@emend/testkit/spawn-process.ts";
import { spawnWorker } from "@emend/testkit/worker-control.ts";
import pg from "pg";
import { seedProjects, startBenchDatabase } from "./database.ts";
import { median } from "./measure.ts";

const rounds = 200;
const database = await startBenchDatabase();
try {
  const { pool } = database;
  const { projectIds, key } = await seedProjects(pool, 1);
  await createFarEnds(pool);
  await pool.query(`
    create function tell_turn() returns trigger language plpgsql as
      'begin perform pg_notify(''bench_turn'', new.job_id); return null; end';
    create trigger tell_turn after insert on turns for each row execute function tell_turn()`);
  const notices = new pg.Client({ connectionString: database.url });
  await notices.connect();
  await notices.query("listen bench_turn; listen bench_echo");
  const next = () => new Promise<number>((resolve) => notices.once("notification", () => resolve(performance.now())));

  const api = await spawnServing(new URL("../../testkit/src/api-process.ts", import.meta.url), [database.url]);
  const worker = await spawnWorker({ databaseUrl: database.url, name: "bench", options: { pollMs: 1_000 } });
  const url = `http://127.0.0.1:${api.port}/v2/agent/${projectIds[0]}/job`;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ prompt: JSON.stringify({ edits: false }) });

  const times = { firstStep: [] as number[], echo: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.firstStep.push(
      await timed(() => fetch(url, { method: "POST", headers, body }).then((answer) => answer.text())),
    );
    // Lets the run end, so that each job finds an idle worker.
    await pause(30);
    times.echo.push(await timed(() => pool.query("notify bench_echo")));
  }
  console.log(
    `create → first step: p50 ${median(times.firstStep).toFixed(1)} ms (aim 25), p99 ${p99(times.firstStep).toFixed(1)} ms; one NOTIFY round trip: p50 ${median(times.echo).toFixed(1)} ms`,
  );
  await worker.kill();
  await Promise.all([api.stop(), notices.end()]);

  async function timed(send: () => Promise<unknown>): Promise<number> {
    const startedAt = performance.now();
    const arrived = next();
    await send();
    return (await arrived) - startedAt;
  }
} finally {
  await database.close();
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}
