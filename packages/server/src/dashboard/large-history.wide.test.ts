import type { DashboardUsageFigures } from "@emend/contract";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Pool } from "../db/pool.ts";
import { findPullJob } from "./find.ts";
import { readInbox } from "./inbox.ts";
import { listJobs } from "./list-jobs.ts";
import { listPulls, parsePullFilter } from "./list-pulls.ts";
import { readUsage, readUsageLines, rollUsageUp } from "./read-usage.ts";

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate projects, usage_days, usage_rolled_days, usage_ranks, usage_today cascade");
  projectId = await seedProject(database.pool);
});

/** Inserts this many jobs on each earlier day and today. */
async function addJobs(days: number, perDay: number): Promise<void> {
  await database.pool.query(
    `insert into jobs (id, project_id, status, prompt, title, model, repository_url, branch, created_by, created_at, ended_at,
       usage, pull_request)
     select 'job_' || lpad((d * 1000 + n)::text, 12, '0'), $1, 'completed', 'Prompt ' || n, 'Title ' || n, 'a/x', '', '', '',
       at, at + interval '2 s', '{"inputTokens": 10}', jsonb_build_object('number', d * 1000 + n, 'state', 'open')
     from generate_series(0, $2::int) d cross join generate_series(1, $3::int) n
     cross join lateral (select clock_timestamp() - make_interval(days => d) as at) day`,
    [projectId, days, perDay],
  );
}

/** The query plans of `ask`, with sequential scans only where no index can be used. */
async function plansOf(ask: (db: Pool) => Promise<unknown>): Promise<string> {
  const client = await database.pool.connect();
  const plans: string[] = [];
  const query = async (given: string | { text: string; values: unknown[] }, values?: unknown[]) => {
    const [text, bound] = typeof given === "string" ? [given, values] : [given.text, given.values];
    if (!/^\s*(select|with|insert|delete)/.test(text)) return client.query(text, bound);
    const explained = await client.query({ text: `explain ${text}`, values: bound ?? [], rowMode: "array" });
    plans.push(explained.rows.join("\n"));
    return client.query(text, bound);
  };
  try {
    await client.query("set enable_seqscan = off");
    const connect = async () => ({ query, on() {}, off() {}, release() {} });
    await ask({ query, connect, options: database.pool.options } as unknown as Pool);
  } finally {
    await client.query("reset enable_seqscan");
    client.release();
  }
  return plans.join("\n\n");
}
const noScan = expect.not.stringMatching(/Seq Scan on (jobs|local_pull_requests)/);

const forgetToday = () => database.pool.query("truncate usage_today");

test("usage counts only the jobs of today, and of days that are not rolled up", async () => {
  await addJobs(3, 5);
  const plans = await plansOf((db) => readUsage(db, 7));
  expect(plans).toEqual(noScan);
  expect(plans).toContain("jobs_by_creation");
  const counted = await readUsage(database.pool, 7);
  expect(counted.total).toMatchObject({ jobs: 20, completed: 20, pullRequests: 20, inputTokens: 200, medianMs: 2000 });
  const lines = await readUsageLines(database.pool, 7);
  // The same days again, which the page already summed up.
  expect(await rollUsageUp(database.pool)).toBe(3);
  expect(await readUsage(database.pool, 7)).toEqual(counted);
  expect(await readUsageLines(database.pool, 7)).toEqual(lines);
  // The summed-up days are not read from the jobs again.
  await forgetToday();
  await database.pool.query(
    "begin; set local session_replication_role = replica; update jobs set usage = null; commit",
  );
  expect((await readUsage(database.pool, 7)).total.inputTokens).toBe(150);
});

test("a rolled day is rolled up again after one of its jobs changed or is gone", async () => {
  await addJobs(2, 2);
  expect(await rollUsageUp(database.pool)).toBe(2);
  // Once more for jobs that were running, then never again.
  expect(await rollUsageUp(database.pool)).toBe(2);
  expect(await rollUsageUp(database.pool)).toBe(0);
  await database.pool.query(
    `update jobs set pull_request = '{"number": 1, "state": "merged"}' where id = 'job_000000001001'`,
  );
  const expectInAll = async (figures: Partial<DashboardUsageFigures>) => {
    expect(await rollUsageUp(database.pool)).toBe(1);
    const { total, byProject, byModel } = await readUsage(database.pool, 7);
    for (const sum of [total, byProject[0], byModel[0]]) expect(sum).toMatchObject(figures);
  };
  await expectInAll({ jobs: 6, merged: 1, inputTokens: 60, medianMs: 2000 });
  await database.pool.query("delete from jobs where id = 'job_000000002001'");
  await expectInAll({ jobs: 5, merged: 1, inputTokens: 50, medianMs: 2000 });
  await database.pool.query("delete from jobs where id = 'job_000000002002'");
  await expectInAll({ jobs: 4, merged: 1, inputTokens: 40, medianMs: 2000 });
});

test("a project's days before today are added up once, not at each look", async () => {
  await addJobs(3, 5);
  await rollUsageUp(database.pool);
  const { byProject } = await readUsage(database.pool, 7);
  expect(byProject).toMatchObject([
    { projectId, jobs: 20, completed: 20, pullRequests: 20, inputTokens: 200, medianMs: 2000 },
  ]);
  await database.pool.query(
    "update usage_days set jobs = 1000 where project_id <> '' and day < (select max(day) from usage_days)",
  );
  expect((await readUsage(database.pool, 7)).byProject).toEqual(byProject);
  // Added up by a version that stored less, or for the day before: the days are read again.
  for (const old of ["completed = null", "completed = 0, through = through - 1"]) {
    await database.pool.query(`update usage_ranks set ${old}`);
    expect((await readUsage(database.pool, 7)).byProject[0]?.jobs).toBe(3005);
  }
  await database.pool.query("truncate projects cascade");
  expect((await readUsage(database.pool, 7)).byProject).toEqual([]);
});

test("usage shows the projects with the most jobs and with the highest cost, today's too", async () => {
  await database.pool.query(
    `insert into projects (id, name, forge, repository_url, settings)
     select 'prj_' || n, 'docs ' || n, 'local', '', '{}' from generate_series(1, 130) n`,
  );
  // Project n has n jobs, all yesterday. Project 1 has the highest cost; the jobs of project 2 are today.
  await database.pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, created_by, created_at, usage)
     select 'job_' || n || '_' || m, 'prj_' || n, '', 'a/x', '', '', '',
       clock_timestamp() - make_interval(days => case n when 2 then 0 else 1 end), jsonb_build_object('costUsd', case n when 1 then 1000 else 0 end)
     from generate_series(1, 130) n cross join generate_series(1, greatest(1, n % 128)) m where m = 1 or n > 70`,
  );
  const shownOf = async () => (await readUsage(database.pool, 7)).byProject.map(({ projectId: id }) => id);
  const first = await shownOf();
  await rollUsageUp(database.pool);
  const ranked = await shownOf();
  for (const shown of [first, ranked]) {
    expect(shown).toEqual(expect.arrayContaining(["prj_127", "prj_100", "prj_1", "prj_2"]));
    expect(shown.length).toBeLessThan(130);
  }
  expect((await database.pool.query("select count(*)::int from usage_ranks where days = 7")).rows).toEqual([
    { count: 129 },
  ]);
  expect((await readUsage(database.pool, 7)).total.jobs).toBe(
    (await readUsageLines(database.pool, 7)).reduce((sum, line) => sum + line.jobs, 0),
  );
});

const all = { projectId: null, status: null, search: null, ids: null, before: null, limit: 50 } as const;

test("a search is looked up, and so is the id that a word may be the beginning of", async () => {
  await addJobs(1, 20);
  for (const search of ["no such words", "job_000000000", "Prompt 7"]) {
    const plans = await plansOf((db) => listJobs(db, { ...all, search }));
    expect(plans).toEqual(noScan);
    expect(plans).toContain("jobs_searched");
  }
  expect((await listJobs(database.pool, { ...all, search: "title 7" })).jobs.map(({ id }) => id)).toEqual([
    "job_000000001007",
    "job_000000000007",
  ]);
});

test("without the index a search goes through the jobs page by page, and finds the oldest too", async () => {
  await addJobs(20, 999);
  await database.pool.query("update jobs set title = 'Needle' where id = 'job_000000000001'");
  await database.pool.query("alter index jobs_searched rename to jobs_searched_away");
  try {
    const found = [];
    let pages = 0;
    for (let before: string | null = null; ; pages += 1) {
      const page = await listJobs(database.pool, { ...all, search: "needle", before });
      found.push(...page.jobs.map(({ id }) => id));
      before = page.nextCursor;
      if (before === null) break;
    }
    expect({ found, pages }).toEqual({ found: ["job_000000000001"], pages: 1 });
  } finally {
    await database.pool.query("alter index jobs_searched_away rename to jobs_searched");
  }
});

test("pull requests are listed, and a job found by its pull request, through an index", async () => {
  for (const filter of [{}, { project: projectId }, { cursor: `1700000000000000-${projectId}-7` }]) {
    const plans = await plansOf((db) => listPulls(db, parsePullFilter(filter)));
    expect(plans).toEqual(noScan);
    // Both kinds are merged in index order.
    if (!("project" in filter)) expect(plans).toContain("local_pull_requests_by_creation");
    if (!("project" in filter)) expect(plans).toContain("jobs_with_pull_request");
  }
  const pull = { projectId, number: 7 };
  expect(await plansOf((db) => findPullJob(db, pull))).toEqual(noScan);
});

test("the inbox reads only what is open", async () => {
  await addJobs(3, 5);
  await database.pool.query(`update jobs set pull_request = '{"number": 1, "state": "merged"}'`);
  await database.pool.query("analyze jobs");
  const plans = await plansOf((db) => readInbox(db, "ada@example.com"));
  expect(plans).toEqual(noScan);
  expect(plans).toContain("jobs_open_pull_of_person");
  expect(plans).toContain("local_pull_requests_open");
  // The reviewers that a project asks for are read once, and not for each open pull request.
  expect(plans).toMatch(/CTE wanting\n\s+->\s+.*Scan.* on projects/);
});
