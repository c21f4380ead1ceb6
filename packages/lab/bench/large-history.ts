// What the database is asked most, with histories of three sizes beside an empty one, in turn. Aim: at most twice.
// npm run bench -- history [--jobs 1000000] [--write]
import { parseArgs } from "node:util";
import { createLogger } from "@emend/base/logger.ts";
import { runOnServer, withDatabaseName } from "@emend/testkit/server.ts";
import { startThrowAwayServer } from "@emend/testkit/throw-away-server.ts";
import pg from "pg";
import { listProjectPage } from "../../server/src/accounts/projects/projects.ts";
import { countCreates } from "../../server/src/dashboard/find.ts";
import { listJobs } from "../../server/src/dashboard/list-jobs.ts";
import { listPulls, parsePullFilter } from "../../server/src/dashboard/list-pulls.ts";
import { readUsage, rollUsageUp } from "../../server/src/dashboard/read-usage.ts";
import { migrate } from "../../server/src/db/migrate.ts";
import { createPool, type Pool } from "../../server/src/db/pool.ts";
import { createJob } from "../../server/src/jobs/create-job.ts";
import { claimRun } from "../../server/src/jobs/run/claim-run.ts";
import { sweepLeases } from "../../server/src/jobs/run/leases.ts";
import { archiveByRetention, dropDeliveries, dropRunContents } from "../../server/src/tasks/housekeeping.ts";
import { median } from "./measure.ts";
import { type HistoryFigures, sections, writeSection } from "./sections.ts";

const { values } = parseArgs({
  options: { jobs: { type: "string", default: "1000000" }, projects: { type: "string" }, write: { type: "boolean" } },
});
const jobsMax = Number(values.jobs);
/** How the cost grows: a hundredth of the history, a tenth, and all of it. */
const sizes = [0.01, 0.1, 1].map((share) => {
  const jobs = Math.round(jobsMax * share);
  const projects = Math.max(1, Math.round((values.projects ? Number(values.projects) : jobsMax / 500) * share));
  return { jobs, queued: Math.round(jobs / 50), projects };
});
const eventsPerJob = 5;
const rounds = 30;

const filter = { projectId: null, status: null, search: null, ids: null, before: null, limit: 50 };
const rules = {
  repositoryUrl: "http://forge.test/docs.git",
  branchPrefix: "emend",
  model: "emend/rules",
  costUsdMax: 1,
  quota: { usesMax: 1_000_000, windowMs: 3_600_000 },
};
const input = {
  projectId: "prj_1",
  prompt: "Fix the links.",
  kept: "Fix the links.",
  baseRef: null,
  model: null,
  draft: null,
  maxCostUsd: null,
  createdBy: "bench",
  idempotencyKey: null,
};
const operations: Readonly<Record<string, (pool: Pool) => Promise<unknown>>> = {
  "create a job": (pool) => createJob({ db: pool, announceDue: () => {} }, rules, input),
  "claim a job": (pool) =>
    claimRun(pool, { lanes: 1_000, leaseMs: 60_000, lookAfter: "", concurrency: 4, running: [{ crashes: 0 }] }),
  "sweep expired leases": (pool) => sweepLeases(pool),
  "the jobs page": (pool) => listJobs(pool, filter),
  "a project's jobs": (pool) => listJobs(pool, { ...filter, projectId: "prj_1" }),
  "a search without a hit": (pool) => listJobs(pool, { ...filter, search: "zebra crossing" }),
  "the projects page": async (pool) => {
    const { projects } = await listProjectPage(pool, { search: null, ids: null, after: null, limit: 50 });
    return countCreates(
      pool,
      projects.map(({ id }) => id),
    );
  },
  "the usage page, 30 days": (pool) => readUsage(pool, 30),
  "the pull requests page": (pool) => listPulls(pool, parsePullFilter({})),
  housekeeping: async (pool) => [
    await archiveByRetention(pool, 4_000),
    await dropRunContents(pool, 4_000),
    await dropDeliveries(pool, 4_000),
    await rollUsageUp(pool),
  ],
};

const server = await startThrowAwayServer();
try {
  const empty = await openDatabase("empty");
  const large = await Promise.all(sizes.map((_, n) => openDatabase(`large_${n}`)));
  try {
    await seed("empty", empty, { jobs: 0, queued: 100, projects: 1 });
    for (const [n, pool] of large.entries()) {
      const size = sizes[n] ?? { jobs: 0, queued: 0, projects: 0 };
      console.log(`making ${size.jobs} finished jobs, ${size.queued} queued, in ${size.projects} projects`);
      await seed(`large_${n}`, pool, size);
      while ((await rollUsageUp(pool)) > 0);
    }
    const found: Record<string, HistoryFigures["operations"][string]> = {};
    for (const [name, operation] of Object.entries(operations)) {
      const times: { emptyMs: number; largeMs: number[] }[] = [];
      for (let round = 0; round < rounds + 5; round += 1) {
        const emptyMs = await timed(operation, empty);
        const largeMs: number[] = [];
        for (const pool of large) largeMs.push(await timed(operation, pool));
        if (round >= 5) times.push({ emptyMs, largeMs });
      }
      const ofSizes = sizes.map((_, n) => ({
        ms: median(times.map(({ largeMs }) => largeMs[n] ?? Number.NaN)),
        ratio: median(times.map(({ emptyMs, largeMs }) => (largeMs[n] ?? Number.NaN) / emptyMs)),
      }));
      console.log(`${name}: ${ofSizes.map(({ ratio }) => `${ratio.toFixed(1)}×`).join(", ")}`);
      found[name] = { emptyMs: median(times.map(({ emptyMs }) => emptyMs)), ofSizes };
    }
    const figures: HistoryFigures = { eventsPerJob, sizes, operations: found };
    console.log(sections.history(figures).table.join("\n"));
    if (values.write) await writeSection("history", `npm run bench -- history --jobs ${jobsMax} --write`, figures);
  } finally {
    await Promise.all([empty, ...large].map((pool) => pool.end()));
  }
} finally {
  await server.stop();
}

/** Without fsync, as in the tests: what is compared is work on rows, and not the disk. */
async function openDatabase(name: string): Promise<Pool> {
  await runOnServer(server.url, `create database ${name} template template0 encoding 'UTF8'`);
  // As the embedded Postgres is set: compiling a plan takes longer than most of these queries.
  await runOnServer(server.url, `alter database ${name} set jit = off`);
  const url = withDatabaseName(server.url, name);
  const pool = createPool({ url, connectionsMax: 10, log: createLogger({ level: "silent" }) });
  await migrate(pool);
  return pool;
}

async function timed(operation: (pool: Pool) => Promise<unknown>, pool: Pool): Promise<number> {
  const startedAt = performance.now();
  await operation(pool);
  return performance.now() - startedAt;
}

async function seed(name: string, pool: Pool, size: { jobs: number; queued: number; projects: number }): Promise<void> {
  await pool.query(
    `insert into projects (id, name, forge, repository_url, settings, created_at)
     select 'prj_' || n, 'docs ' || n, 'local', 'http://forge.test/docs.git', '{}', now() - make_interval(secs => $1 - n)
     from generate_series(1, $1::int) n`,
    [size.projects],
  );
  const client = new pg.Client({ connectionString: withDatabaseName(server.url, name) });
  await client.connect();
  try {
    // Without triggers and foreign keys: a history is made here, and nobody watches.
    await client.query("set session_replication_role = replica");
    await client.query(
      `insert into jobs (id, project_id, status, phase, prompt, title, model, repository_url, branch, created_by, created_at,
         ended_at, usage, pull_request, event_seq)
       select 'job_' || lpad(n::text, 26, '0'), 'prj_' || (1 + n % $2::int), 'completed', 'publishing',
         'Replace term ' || n || ' with another on every page of the guides.', 'Replace term ' || n,
         case n % 3 when 0 then 'emend/rules' else 'openai/gpt' || n % 3 end, 'http://forge.test/docs.git', 'emend/' || n,
         'bench', at, at + make_interval(secs => n % 600), '{"steps": 3, "inputTokens": 9000, "outputTokens": 700, "costUsd": 0.01}',
         jsonb_build_object('number', n, 'state', case n % 2 when 0 then 'merged' else 'open' end), ${eventsPerJob}
       from generate_series(1, $1::int) n
       cross join lateral (select now() - make_interval(secs => 86400.0 * 365 * ($1 - n) / $1) as at) times`,
      [size.jobs, size.projects],
    );
    await client.query(
      `insert into job_events (job_id, seq, kind, data)
       select 'job_' || lpad(n::text, 26, '0'), seq, 'step', '{"text": "Looked at a page.", "tools": []}'
       from generate_series(1, $1::int) n cross join generate_series(1, ${eventsPerJob}) seq`,
      [size.jobs],
    );
    await client.query(
      `insert into local_pull_requests (project_id, number, head_ref, base_ref, title, body, state, created_at, base_commit,
         head_commit)
       select project_id, row_number() over (partition by project_id order by id), branch, 'main', title, '',
         pull_request ->> 'state', created_at, '', ''
       from jobs where pull_request is not null`,
    );
    await client.query(
      `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
       select 'job_' || lpad(($3 + n)::text, 26, '0'), 'prj_' || (1 + n % $2::int), 'Fix the links.', 'emend/rules', '', '', '', 'bench', 1
       from generate_series(1, $1::int) n`,
      [size.queued, size.projects, size.jobs],
    );
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}
