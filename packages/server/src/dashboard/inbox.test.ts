import type { DashboardInbox } from "@emend/contract";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { dropGateStatuses } from "../tasks/housekeeping.ts";

let host: DashboardApi;
let projectId: string;
let ada: { email: string; cookie: string };
let bo: { email: string; cookie: string };

beforeAll(async () => {
  host = await startDashboard();
  projectId = (await host.api.addProject()).id;
  ada = await host.addMember("maintainer");
  bo = await host.addMember("maintainer");
  await query(`update projects set forge = 'local', settings = '{"forge": {"reviewers": ["${ada.email}"]}}'`);
});
afterAll(() => host.close());

const query = (text: string, values: unknown[] = []) => host.api.pool.query(text, values);

async function inboxOf({ cookie }: { cookie: string }): Promise<DashboardInbox["items"]> {
  return (await host.send("/inbox", { cookie })).json().items;
}

const kindsOf = async (who: { cookie: string }) => (await inboxOf(who)).map(({ kind }) => kind);

async function addJob(by: string, assignments: string): Promise<string> {
  const id = await seedJob(host.api.pool, projectId);
  await alterJob(host.api.pool, id, `created_by = '${by}', ${assignments}`);
  return id;
}

it("asks whoever started the job, and everybody about jobs that no person started", async () => {
  const waiting = "waiting_since = now(), waiting_for = 'answer'";
  const own = await addJob(`user/${ada.email}`, waiting);
  const ofKey = await addJob("key/ci", waiting);
  await query(`insert into job_questions (job_id, step, question, answer_until)
    select id, 1, 'Which release?', now() from jobs where waiting_since is not null`);
  expect(await inboxOf(ada)).toMatchObject([
    { kind: "question", jobId: ofKey, words: "Which release?" },
    { kind: "question", jobId: own },
  ]);
  expect((await inboxOf(bo)).map(({ jobId }) => jobId)).toEqual([ofKey]);
  // Answered.
  await query("update jobs set waiting_since = null");
  expect(await inboxOf(ada)).toEqual([]);
});

it("asks everybody who may write about a change that waits for approval, whoever started the job", async () => {
  const viewer = await host.addMember("viewer");
  const waiting = "waiting_since = now(), waiting_for = 'approval'";
  const own = await addJob(`user/${ada.email}`, waiting);
  await query(
    `insert into job_questions (job_id, question, answer_until, constructs) values ($1, 'Publish it?', now(), '[{"id": "x"}]')`,
    [own],
  );
  for (const who of [ada, bo]) {
    expect(await inboxOf(who)).toMatchObject([{ kind: "approval", jobId: own, words: "Publish it?" }]);
  }
  expect(await inboxOf(viewer)).toEqual([]);
  expect((await host.send(`/jobs/${own}/approve`, { cookie: viewer.cookie, body: {} })).statusCode).toBe(403);
  expect((await host.send(`/jobs/${own}/decline`, { cookie: viewer.cookie, body: {} })).statusCode).toBe(403);
  expect((await host.send(`/jobs?ids=${own}`, { cookie: bo.cookie })).json().jobs).toMatchObject([
    { attention: "waiting" },
  ]);
  expect((await host.send(`/jobs/${own}/approve`, { cookie: bo.cookie, body: { remember: true } })).statusCode).toBe(
    200,
  );
  expect(await inboxOf(ada)).toEqual([]);
  await query("update jobs set status = 'archived' where id = $1", [own]);
});

it("shows a plan until it is approved or answered", async () => {
  const made = "plan = true, status = 'completed', ended_at = now(), title = 'Move the guides'";
  const own = await addJob(`user/${ada.email}`, made);
  const answered = await addJob(`user/${ada.email}`, made);
  await query(
    "insert into job_messages (job_id, number, prompt, after_step, created_by) values ($1, 1, 'Go on.', 0, 'x')",
    [answered],
  );
  expect(await inboxOf(ada)).toMatchObject([{ kind: "plan", jobId: own, title: "Move the guides" }]);
  expect(await inboxOf(bo)).toEqual([]);
  await query("update jobs set status = 'archived' where plan");
  expect(await inboxOf(ada)).toEqual([]);
});

it("shows pull requests to their reviewers until they reviewed the newest commit, and their own to people", async () => {
  await query(
    `insert into local_pull_requests (project_id, number, head_ref, base_ref, title, body, draft, base_commit, head_commit)
     values ($1, 1, 'a', 'main', 'First', '', false, 'b', 'h1'), ($1, 2, 'b', 'main', 'A draft', '', true, 'b', 'h2')`,
    [projectId],
  );
  expect(await inboxOf(ada)).toMatchObject([{ kind: "review", number: 1, title: "First" }]);
  expect(await inboxOf(bo)).toEqual([]);
  await query("insert into local_reviews (project_id, number, reviewer) values ($1, 1, $2)", [projectId, bo.email]);
  expect(await kindsOf(bo)).toEqual(["review"]);
  const said = "update local_reviews set verdict = 'approved', commit_id = 'h1' where reviewer = $1";
  await query(said, [bo.email]);
  expect(await kindsOf(bo)).toEqual([]);
  await query("update local_pull_requests set head_commit = 'h3' where number = 1");
  expect(await inboxOf(bo)).toMatchObject([{ words: "New commits since your approval." }]);

  const pull = (number: number) => `pull_request = '{"number": ${number}, "state": "open"}', status = 'completed'`;
  const jobId = await addJob(`user/${bo.email}`, pull(2));
  await addJob(`user/${bo.email}`, pull(1));
  expect(await inboxOf(bo)).toMatchObject([
    { kind: "review", number: 1 },
    { kind: "pull", number: 2, jobId },
  ]);
  await query("delete from jobs; delete from local_pull_requests; delete from local_reviews");
});

it("shows failed automations and drift until somebody dismisses them, and what is new about them", async () => {
  const jobId = await addJob(
    "automation/aut_a",
    "status = 'failed', failure_code = 'timeout', failure_message = 'Too slow.'",
  );
  await query(
    `insert into automations (id, project_id, name, trigger, prompt, created_by) values ('aut_a', $1, 'Nightly', '{}', 'p', 'x')`,
    [projectId],
  );
  const run = `insert into automation_runs (automation_id, event, values, words, state, job_id) values ('aut_a', $1, '{}', '', 'started', $2)`;
  await query(run, ["1", jobId]);
  const drift = (message: string) =>
    query(
      `insert into site_checks (project_id, commit_id, counts, findings) values ($1, 'c', '[]', $2)
       on conflict do nothing`,
      [
        projectId,
        JSON.stringify([
          { check: "stale-reference", path: "a.md", line: 3, message },
          { check: "broken-link", path: "b.md", line: 1, message: "gone" },
        ]),
      ],
    );
  await drift("`--x` is gone.");
  const found = await inboxOf(bo);
  expect(found).toMatchObject([
    { kind: "automation", title: "Nightly", words: "Too slow.", jobId },
    { kind: "drift", title: "a.md", path: "a.md", words: "`--x` is gone." },
  ]);
  for (const { id } of found) await host.send("/inbox/dismiss", { cookie: bo.cookie, body: { item: id } });
  expect(await inboxOf(bo)).toEqual([]);
  expect(await kindsOf(ada)).toEqual(["automation", "drift"]);

  await query("delete from site_checks");
  await drift("`--y` is gone.");
  await query(run, ["2", jobId]);
  expect(await kindsOf(bo)).toEqual(["automation", "drift"]);
  await query(run, ["3", await addJob("automation/aut_a", "status = 'completed'")]);
  expect(await kindsOf(bo)).toEqual(["drift"]);
  // What still waits after months may be shown again.
  await query("update inbox_dismissals set dismissed_at = now() - interval '100 days'");
  await dropGateStatuses(host.api.pool, 90);
  expect((await query("select from inbox_dismissals")).rowCount).toBe(0);
});
