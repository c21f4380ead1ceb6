import { randomUUID } from "node:crypto";
import { createLogger } from "@emend/base/logger.ts";
import pg from "pg";
import { createPool } from "../../server/src/db/pool.ts";
import { claimRun } from "../../server/src/jobs/run/claim-run.ts";
import { renewLeases } from "../../server/src/jobs/run/leases.ts";
import type { BenchDatabase } from "./database.ts";
import { median } from "./measure.ts";
import { postgresPid, processorMs } from "./processor-time.ts";
import type { ScaleFigures } from "./simulation-model.ts";

const connections = 16;
const listenerCounts = [1, 32];
const runningCounts = [0, 10_000];
const ms = 1_500;

/** What no number of processes changes: commits, notices, claims beside many runs, renewals. */
export async function measureDatabase(
  { url, pool }: BenchDatabase,
  projectId: string,
): Promise<ScaleFigures["database"]> {
  const postgres = await postgresPid(pool);
  const wide = createPool({ url, connectionsMax: connections, log: createLogger({ level: "silent" }) });
  try {
    await pool.query("create table limits (id bigserial primary key, text text)");
    const commit = () => wide.query("insert into limits (text) values ('x')");
    const notify = () =>
      wide.query("with told as (insert into limits (text) values ('x')) select pg_notify('emend_limits', 'job')");
    const times: number[] = [];
    for (let n = 0; n < 200; n += 1) times.push(await timed(commit));
    const rate = async (work: () => Promise<unknown>) => {
      let done = 0;
      const startedAt = performance.now();
      const client = async () => {
        for (; performance.now() - startedAt < ms; done += 1) await work();
      };
      await Promise.all(Array.from({ length: connections }, client));
      return (done * 1000) / (performance.now() - startedAt);
    };
    await rate(commit);
    const commitsPerSecond = await rate(commit);
    const notifying: { listeners: number; perSecond: number; postgresMs: number }[] = [];
    for (const listeners of listenerCounts) {
      const open = await Promise.all(Array.from({ length: listeners }, () => listen(url)));
      const before = processorMs(postgres);
      const perSecond = await rate(notify);
      const postgresMs = (processorMs(postgres) - before) / ((perSecond * ms) / 1000);
      notifying.push({ listeners, perSecond, postgresMs });
      await Promise.all(open.map((client) => client.end()));
    }
    const claims: { running: number; postgresMs: number }[] = [];
    for (const running of runningCounts) {
      await addRunning(pool, running);
      const claim = () =>
        claimRun(pool, {
          lanes: 1_000_000,
          leaseMs: 600_000,
          lookAfter: "",
          concurrency: 4,
          running: [{ crashes: 0 }],
        });
      await addQueued(pool, projectId, 120);
      for (let n = 0; n < 20; n += 1) await claim();
      const before = processorMs(postgres);
      for (let n = 0; n < 100; n += 1) await claim();
      claims.push({ running, postgresMs: (processorMs(postgres) - before) / 100 });
    }
    const { rows } = await pool.query<{ id: string; lease: string }>(
      "select id, lease from jobs where lease is not null limit 1000",
    );
    const leases = rows.map(({ id, lease }) => ({ jobId: id, token: lease }));
    await renewLeases(pool, leases, 600_000);
    const before = processorMs(postgres);
    for (let n = 0; n < 10; n += 1) await renewLeases(pool, leases, 600_000);
    const postgresMs = (processorMs(postgres) - before) / (10 * leases.length);
    return {
      commitMs: median(times),
      commitsPerSecond,
      notifying,
      claims,
      renewal: { leases: leases.length, postgresMs },
    };
  } finally {
    await wide.end();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function listen(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("listen emend_limits");
  return client;
}

/** Four in each project, as many as a project usually runs at once. */
async function addRunning(pool: pg.Pool, count: number): Promise<void> {
  await pool.query(
    `with made as (
       insert into projects (id, name, forge, repository_url, settings)
       select 'prj_run_' || n, 'docs', 'local', 'http://forge.test/docs.git', '{}' from generate_series(1, $1::int / 4) n
       returning id
     )
     insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq, lease, lease_until)
     select 'job_' || id || n, id, 'x', 'emend/rules', '', '', '', 'bench', 1, gen_random_uuid(), now() + interval '1 hour'
     from made cross join generate_series(1, 4) n`,
    [count],
  );
  await pool.query("analyze jobs");
}

async function addQueued(pool: pg.Pool, projectId: string, count: number): Promise<void> {
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
     select 'job_due_' || n || $2, $1, 'x', 'emend/rules', '', '', '', 'bench', 1 from generate_series(1, $3::int) n`,
    [projectId, randomUUID(), count],
  );
}
