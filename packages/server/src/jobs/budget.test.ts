import { createTestDatabase } from "@emend/testkit/database.ts";
import { alterJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { setMonthlyBudget } from "../accounts/installation-settings.ts";
import { createSealer } from "../accounts/secrets.ts";
import type { Queryable } from "../db/pool.ts";
import { consoleActor } from "../db/transaction.ts";
import { warnOfBudgets } from "../notify/warn-of-budgets.ts";
import { addWebhook, listWebhooks } from "../notify/webhooks.ts";
import { listBudgets, spentBudget } from "./budget.ts";
import { createJob } from "./create-job.ts";
import { acceptMessage, messageQuota } from "./message-job.ts";

const database = await createTestDatabase();
afterAll(() => database.drop());
const { pool } = database;
beforeEach(async () => {
  await pool.query("truncate projects, monthly_usage, budget_warnings cascade");
});
afterEach(async () => {
  await pool.query("delete from settings where name = 'monthlyBudget'");
});

const projectWith = (monthlyBudget: object) => seedProject(pool, { monthlyBudget });
const installation = (budget: object) => setMonthlyBudget(pool, budget, consoleActor);

async function create(db: Queryable, projectId: string, idempotencyKey: string | null = null) {
  const rules = {
    repositoryUrl: "http://forge.test/docs.git",
    branchPrefix: "emend",
    model: "emend/rules",
    costUsdMax: 2,
    quota: { usesMax: 100, windowMs: 3_600_000 },
  };
  const asked = { baseRef: null, model: null, draft: null, maxCostUsd: null };
  const prompt = "Fix broken links.";
  const input = { projectId, prompt, kept: prompt, ...asked, createdBy: "test", idempotencyKey };
  return createJob({ db, announceDue: () => {} }, rules, input);
}

test("an outcome that only a newer release knows is one to retry, on another node", async () => {
  const newer = { query: async () => ({ rows: [{ outcome: "paused", at: new Date(), frees_at: new Date() }] }) };
  await expect(create(newer as unknown as Queryable, "prj_1")).rejects.toMatchObject({ code: "unavailable" });
});

test("what is no limit is refused before it is stored, where it would make every job fail", async () => {
  await expect(installation({ jobsMax: "" })).rejects.toThrow('"" is not a limit');
  expect(await create(pool, await projectWith({}))).toMatchObject({ kind: "created" });
});

/** In this month and the next, so that no test depends on the date. */
async function spend(projectId: string, used: { jobs?: number; costUsd?: number }): Promise<void> {
  await pool.query(
    `insert into monthly_usage (project_id, month, jobs, cost_usd)
     select $1, (date_trunc('month', clock_timestamp() at time zone 'UTC') + make_interval(months => n))::date, $2, $3
     from generate_series(0, 1) n
     on conflict (project_id, month) do update set jobs = excluded.jobs, cost_usd = excluded.cost_usd`,
    [projectId, used.jobs ?? 0, used.costUsd ?? 0],
  );
}

/** Two transactions request the last job concurrently. The first commits only after the second has sent its request. */
async function raceForLast(projects: readonly [string, string]): Promise<string[]> {
  const [first, second] = [await pool.connect(), await pool.connect()];
  try {
    await first.query("begin");
    const one = await create(first, projects[0]);
    const asked = create(second, projects[1]);
    // In this database only: other tests share the server.
    const waits = `select 1 from pg_locks join pg_database on pg_database.oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`;
    await Promise.race([asked, expect.poll(async () => (await pool.query(waits)).rowCount).toBe(1)]);
    await first.query("commit");
    return [one.kind, (await asked).kind];
  } finally {
    first.release();
    second.release();
  }
}

test.each(["project", "installation"])(
  "of two that race for the last job of a %s's month, one gets it",
  async (scope) => {
    async function race() {
      const one = await projectWith(scope === "project" ? { jobsMax: 1 } : {});
      const other = scope === "project" ? one : await seedProject(pool);
      await pool.query("truncate monthly_usage");
      return raceForLast([one, other]);
    }
    if (scope === "installation") await installation({ jobsMax: 1 });
    expect(await race()).toEqual(["created", "over_budget"]);

    const { rows } = await pool.query("select pg_get_functiondef('refused_by_budget'::regproc) as text");
    const lock = /perform pg_advisory_xact_lock\(.*\);/g;
    expect(rows[0].text.match(lock)).toHaveLength(2);
    await pool.query(rows[0].text.replaceAll(lock, "null;"));
    try {
      expect(await race(), "without the lock").toEqual(["created", "created"]);
    } finally {
      await pool.query(rows[0].text);
    }
  },
);

test("a refusal says whose budget it is, how large, and when it renews; it counts nowhere", async () => {
  const projectId = await projectWith({ costUsdMax: 50, jobsMax: 7 });
  expect(await create(pool, projectId, "a")).toMatchObject({ kind: "created" });
  await spend(projectId, { costUsd: 50, jobs: 1 });
  const refused = await create(pool, projectId);
  expect(refused).toMatchObject({
    kind: "over_budget",
    refusal: {
      words: expect.stringMatching(
        /^This project used its monthly budget of \$50\. It renews on 1 \w+ \d{4} \(UTC\)\./,
      ),
    },
  });
  expect(await create(pool, projectId, "a"), "what was answered before").toMatchObject({ kind: "replayed" });
  await spend(projectId, { costUsd: 49.99, jobs: 7 });
  expect(await create(pool, projectId)).toMatchObject({
    refusal: { words: expect.stringContaining("budget of 7 jobs.") },
  });
  const { rows } = await pool.query("select count(*)::int as n from quota_uses where project_id = $1", [projectId]);
  expect(rows[0].n).toBe(1);
});

test("steps of a run count when they are paid for; a removed project's share stays spent", async () => {
  const [kept, gone] = [await projectWith({ costUsdMax: 5 }), await seedProject(pool)];
  await installation({ costUsdMax: 6 });
  for (const projectId of [kept, gone]) {
    const id = await seedJob(pool, projectId);
    for (const costUsd of [1.5, 4]) await alterJob(pool, id, `usage = '{"costUsd": ${costUsd}}'`);
  }
  expect(await listBudgets(pool)).toMatchObject([
    { scope: "installation", projectId: null, costUsd: 8, costUsdMax: 6, jobsMax: null },
    { scope: "project", projectId: kept, costUsd: 4, costUsdMax: 5 },
  ]);
  await pool
    .query("delete from projects where id = $1", [gone])
    .catch(() => pool.query("delete from jobs where project_id = $1", [gone]));
  expect((await listBudgets(pool))[0]).toMatchObject({ costUsd: 8 });
  expect(await create(pool, kept)).toMatchObject({
    refusal: { words: expect.stringContaining("This installation used") },
  });
  expect(await spentBudget(pool, kept)).toBe("the installation's monthly budget of $6 was used up");
  await installation({ costUsdMax: null });
  expect(await spentBudget(pool, kept)).toBeNull();
  expect(await create(pool, kept)).toMatchObject({ kind: "created" });
});

test("a follow-up is refused when the dollars are used up, and not when the jobs are", async () => {
  const projectId = await projectWith({ costUsdMax: 5, jobsMax: 1 });
  const id = await seedJob(pool, projectId);
  await alterJob(pool, id, "status = 'completed', ended_at = now()");
  const message = () => acceptMessage(pool, messageQuota, { id, projectId, kept: "More.", createdBy: "test" });
  await spend(projectId, { costUsd: 5 });
  expect(await message()).toMatchObject({ kind: "over_budget" });
  await spend(projectId, { costUsd: 1, jobs: 1 });
  expect(await message()).toMatchObject({ kind: "accepted" });
});

test("webhooks are sent at 80 % and at 100 %, once a month each", async () => {
  const [one, other] = [await projectWith({ costUsdMax: 10 }), await seedProject(pool)];
  const sealer = createSealer("a secret of the tests, and of nothing else");
  for (const projectId of [one, other]) {
    await addWebhook({ db: pool, sealer, allowPrivate: false }, { projectId, url: "https://example.com/hook" });
  }
  const [hook] = await listWebhooks(pool, one);
  const told = async () =>
    (await pool.query("select webhook_id, event, payload -> 'data' as data from deliveries order by created_at, event"))
      .rows;
  await spend(one, { costUsd: 7.99 });
  expect(await warnOfBudgets(pool)).toBe(0);
  await spend(one, { costUsd: 8 });
  expect(await warnOfBudgets(pool)).toBe(1);
  expect(await warnOfBudgets(pool), "a second look").toBe(0);
  expect(await told()).toEqual([
    {
      webhook_id: hook?.id,
      event: "budget.warning",
      data: {
        projectId: one,
        scope: "project",
        month: expect.stringMatching(/^\d{4}-\d\d$/),
        jobs: { used: 0, max: null },
        costUsd: { used: 8, max: 10 },
      },
    },
  ]);
  await spend(one, { costUsd: 10 });
  expect(await warnOfBudgets(pool)).toBe(1);
  await installation({ costUsdMax: 10 });
  expect(await warnOfBudgets(pool), "both steps at once").toBe(2);
  expect((await told()).map(({ event }) => event)).toEqual([
    "budget.warning",
    "budget.exceeded",
    ...["budget.warning", "budget.warning", "budget.exceeded", "budget.exceeded"],
  ]);
});
