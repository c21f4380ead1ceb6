// What the database is asked most, with a long history beside an empty one, in turn. Aim: at most twice.
// npm run bench -- history [--jobs 1000000] [--write]
import { parseArgs } from "node:util";
import pg from "pg";

import { drawLines } from "../../site/bench/plot.ts";

import { listProjectPage } from "../src/accounts/projects/projects.ts";
import { countCreates } from "../src/dashboard/find.ts";

import { listJobs } from "../src/dashboard/list-jobs.ts";
import { listPulls, parsePullFilter } from "../src/dashboard/list-pulls.ts";
import { readUsage, rollUsageUp } from "../src/dashboard/read-usage.ts";
import { migrate } from "../src/db/migrate.ts";
import { createPool, type Pool } from "../src/db/pool.ts";
import { createJob } from "../src/jobs/create-job.ts";
import { claimRun } from "../src/jobs/run/claim-run.ts";
import { sweepLeases } from "../src/jobs/run/leases.ts";
import { createLogger } from "../src/lib/logger.ts";
import { archiveByRetention, dropDeliveries, dropRunContents } from "../src/tasks/housekeeping.ts";
import { runOnServer, withDatabaseName } from "../test/support/server.ts";
import { startThrowAwayServer } from "../test/support/throw-away-server.ts";
import { median } from "./measure.ts";
import { readFigures, writeResults } from "./results.ts";

const { values } = parseArgs({
  options: { jobs: { type: "string", default: "1000000" }, projects: { type: "string" }, write: { type: "boolean" } },
});
const jobs = Number(values.jobs);
const projects = Number(values.projects ?? Math.max(1, Math.round(jobs / 500)));
const queued = Math.round(jobs / 50);
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
  baseRef: null,
  model: null,
  draft: null,
  maxCostUsd: null,
  createdBy: "bench",
  idempotencyKey: null,
};
const operations: Readonly<Record<string, (pool: Pool) => Promise<unknown>>> = {
  "create a job": (pool) => createJob({ db: pool, announceDue: () => {} }, rules, input),
  "claim a job": (pool) => claimRun(pool, { lanes: 1_000, leaseMs: 60_000, lookAfter: "", isIdle: false }),
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
  const [empty, large] = await Promise.all([openDatabase("empty"), openDatabase("large")]);
  try {
    console.log(`making ${jobs} finished jobs, ${queued} queued, in ${projects} projects`);
    await seed("empty", empty, { jobs: 0, queued: 100, projects: 1 });
    await seed("large", large, { jobs, queued, projects });
    while ((await rollUsageUp(large)) > 0);
    const lines: string[] = [];
    const found: Record<string, { emptyMs: number; largeMs: number; ratio: number }> = {};
    for (const [name, operation] of Object.entries(operations)) {
      const ratios: number[] = [];
      const ms = { empty: [] as number[], large: [] as number[] };
      for (let round = 0; round < rounds + 5; round += 1) {
        const [before, after] = [await timed(operation, empty), await timed(operation, large)];
        if (round < 5) continue;
        ms.empty.push(before);
        ms.large.push(after);
        ratios.push(after / before);
      }
      const line = `| ${name} | ${median(ms.empty).toFixed(1)} ms | ${median(ms.large).toFixed(1)} ms | ${median(ratios).toFixed(1)}× |`;
      console.log(line);
      lines.push(line);
      found[name] = { emptyMs: median(ms.empty), largeMs: median(ms.large), ratio: median(ratios) };
    }
    const table = [
      `| ${jobs.toLocaleString("en")} finished jobs, ${(jobs * eventsPerJob).toLocaleString("en")} events, ${queued.toLocaleString("en")} queued jobs, ${projects.toLocaleString("en")} projects | empty | large | ratio |`,
      "|---|---:|---:|---:|",
      ...lines,
    ];
    if (values.write) await write(table.join("\n"), found);
  } finally {
    await Promise.all([empty.end(), large.end()]);
  }
} finally {
  await server.stop();
}

/** Runs of other sizes are kept for the plot. */
async function write(table: string, found: Record<string, { ratio: number }>): Promise<void> {
  const earlier = await readFigures<{ bySize: Record<string, typeof found> }>("history");
  const bySize: Record<string, typeof found> = { ...earlier?.bySize, [jobs]: found };
  const svg = drawLines({
    title: "With a history: how much longer than with none",
    x: "finished jobs",
    y: "times as long",
    log: "x",
    lines: Object.keys(found).map((name) => ({
      name,
      points: Object.entries(bySize).flatMap(([size, of]) =>
        of[name] ? [[Number(size), of[name].ratio] as const] : [],
      ),
    })),
    level: { name: "aim: at most 2", y: 2 },
  });
  const says = "How much longer each question takes with a long history than with none, by the number of finished jobs";
  const command = `npm run bench -- history --jobs ${jobs} --write`;
  await writeResults("history", command, table, { figures: { bySize }, plot: { svg, says } });
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
