import { automationDeps, historyOf, seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { alterJob, readJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAutomations } from "./automation-store.ts";
import { dispatchAutomation } from "./dispatch-automation.ts";

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate projects cascade");
  projectId = await seedProject(database.pool);
});

const node = (more = {}) => automationDeps(database.pool, more);
const url = "http://forge.test/pull/7";

async function started(prompt?: string): Promise<{ id: string; jobId: string }> {
  const { id } = await seedAutomation(database.pool, projectId, prompt === undefined ? {} : { prompt });
  const { jobId } = await createAutomations(node()).run(id);
  return { id, jobId: jobId ?? "" };
}
async function end(jobId: string, state: "open" | "merged" | "closed" | null, status = "completed"): Promise<void> {
  const pullRequest = state && { number: 7, url, state, draft: false };
  await alterJob(
    database.pool,
    jobId,
    `status = '${status}', ended_at = now(), pushed = true, pull_request = ${pullRequest ? `'${JSON.stringify(pullRequest)}'` : "null"}`,
  );
}
/** An event that is not a manual run. */
async function happen(id: string, event: string, values: object = {}): Promise<void> {
  const whole = { commits: [], changedFiles: [], tag: null, date: "2026-11-15", repository: "docs", ...values };
  await database.pool.query(
    "insert into automation_runs (automation_id, event, values, words) values ($1, $2, $3, 'Waits.')",
    [id, event, whole],
  );
}
const messages = async () =>
  (await database.pool.query("select job_id, prompt, created_by from job_messages order by number")).rows;
const count = async () => (await database.pool.query("select id from jobs")).rowCount;

test("while its job is at work a run waits, and those that gather become one message", async () => {
  const { id, jobId } = await started();
  await happen(id, "one");
  await dispatchAutomation(node(), id);
  expect((await historyOf(database.pool, id))[0]).toEqual({
    state: "waiting",
    words: `Waiting for job ${jobId}, which is still running.`,
  });
  await happen(id, "two");
  await end(jobId, "open");
  await dispatchAutomation(node(), id);
  expect(await messages()).toEqual([{ job_id: jobId, prompt: "Fix broken links.", created_by: `automation/${id}` }]);
  expect(await historyOf(database.pool, id)).toMatchObject([
    { state: "continued", words: `Continued job ${jobId}, whose pull request ${url} is open.` },
    { state: "merged" },
    { state: "started" },
  ]);
  expect(await readJob(database.pool, jobId)).toMatchObject({ status: "active", phase: "queued" });
  expect(await count()).toBe(1);
});

test.each([
  ["merged", "completed"],
  [null, "completed"],
  [null, "failed"],
] as const)("after a pull request that is %s, of a %s job, a new job is made", async (state, status) => {
  const { id, jobId } = await started();
  await end(jobId, state, status);
  await happen(id, "one");
  await dispatchAutomation(node(), id);
  expect(await count()).toBe(2);
  expect(await historyOf(database.pool, id)).toMatchObject([{ state: "started" }, { state: "started" }]);
});

test("the pull request's state on its forge counts, not the stored one", async () => {
  const { id, jobId } = await started();
  await end(jobId, "open");
  const asked: unknown[] = [];
  const pullRequestState = async (project: string, number: number) => {
    asked.push([project, number]);
    return "merged" as const;
  };
  await happen(id, "one");
  await dispatchAutomation(node({ pullRequestState }), id);
  expect(asked).toEqual([[projectId, 7]]);
  expect((await readJob(database.pool, jobId)).pull_request.state).toBe("merged");
  expect([await count(), await messages()]).toEqual([2, []]);
});

test("a change that was closed unmerged is proposed again only by hand", async () => {
  const { id, jobId } = await started("Fix broken links. {{date}}");
  await end(jobId, "closed");
  await happen(id, "one", { date: "2026-12-24" });
  await dispatchAutomation(node(), id);
  expect(await count()).toBe(1);
  expect((await historyOf(database.pool, id))[0]).toEqual({
    state: "skipped",
    words: `Skipped: the same change was proposed in ${url} and closed unmerged. Run it manually to propose it again.`,
  });
  const again = await createAutomations(node()).run(id);
  expect(again.state).toBe("started");
  // After a manual run is merged, the change no longer counts as closed.
  await end(again.jobId ?? "", "merged");
  await happen(id, "two");
  await dispatchAutomation(node(), id);
  expect(await count()).toBe(3);
});

test("another content than the closed one is proposed", async () => {
  const { id, jobId } = await started("For {{repository}}.");
  await end(jobId, "closed");
  await happen(id, "one", { repository: "another" });
  await dispatchAutomation(node(), id);
  expect(await count()).toBe(2);
});

test("an open pull request whose job is archived stays the only one", async () => {
  const { id, jobId } = await started();
  await end(jobId, "open", "archived");
  await happen(id, "one");
  await dispatchAutomation(node(), id);
  expect([await count(), await messages()]).toEqual([1, []]);
  expect((await historyOf(database.pool, id))[0]).toMatchObject({
    state: "skipped",
    words: expect.stringContaining("still open"),
  });
});

test("nodes that dispatch the same run make one job; a fault after it leaves no trace of it", async () => {
  const { id } = await seedAutomation(database.pool, projectId);
  await happen(id, "one");
  await database.pool.query(
    `create function fail() returns trigger language plpgsql as 'begin raise exception ''a fault''; end';
     create trigger fail before update on automation_runs for each row execute function fail()`,
  );
  await expect(dispatchAutomation(node(), id)).rejects.toThrow("a fault");
  expect(await count()).toBe(0);
  expect((await database.pool.query("select 1 from quota_uses")).rowCount).toBe(0);
  await database.pool.query("drop trigger fail on automation_runs");
  await Promise.all([1, 2, 3, 4].map(() => dispatchAutomation(node(), id)));
  expect(await count()).toBe(1);
});

test("a dispatch waits for another one of the same automation, and then finds nothing to do", async () => {
  const { id } = await seedAutomation(database.pool, projectId);
  await happen(id, "one");
  const other = await database.pool.connect();
  await other.query("begin");
  await other.query("select 1 from automations where id = $1 for no key update", [id]);
  const dispatched = dispatchAutomation(node(), id).then(() => "went on");
  const waiting = async (): Promise<string> => {
    const { rowCount } = await database.pool.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount === 0 ? waiting() : "waits";
  };
  expect(await Promise.race([dispatched, waiting()])).toBe("waits");
  await other.query("update automation_runs set state = 'skipped'");
  await other.query("commit");
  other.release();
  await dispatched;
  expect(await count()).toBe(0);
});

test("a run waits while a monthly budget is used up, and says why", async () => {
  projectId = await seedProject(database.pool, { monthlyBudget: { jobsMax: 0 } });
  const { id } = await seedAutomation(database.pool, projectId);
  await happen(id, "one");
  await dispatchAutomation(node(), id);
  expect((await historyOf(database.pool, id))[0]).toEqual({
    state: "waiting",
    words: expect.stringMatching(
      /^This project used its monthly budget of 0 jobs\..* Emend starts this run when there is room\.$/,
    ),
  });
  expect(await count()).toBe(0);
});

test("a run waits at the message limit, and says why", async () => {
  const { id, jobId } = await started();
  await end(jobId, "open");
  await database.pool.query(
    "insert into quota_uses select $1, 'message', clock_timestamp() from generate_series(1, 100)",
    [projectId],
  );
  const run = await createAutomations(node()).run(id);
  expect(run).toMatchObject({ state: "waiting", words: expect.stringContaining("message limit") });
  expect(await messages()).toEqual([]);
});

test("each outcome is reported once", async () => {
  const told: string[] = [];
  const { id } = await seedAutomation(database.pool, projectId);
  const automations = createAutomations(node({ onSettled: (state: string) => told.push(state) }));
  const { jobId } = await automations.run(id);
  await automations.run(id);
  await end(jobId ?? "", "open");
  await automations.run(id);
  expect(told).toEqual(["started", "waiting", "continued"]);
});
