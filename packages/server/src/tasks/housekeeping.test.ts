import { seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { connectProgram } from "@emend/testkit/oauth-program.ts";
import { alterJob, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  archiveByRetention,
  deleteByRetention,
  dropAutomationRuns,
  dropDeliveries,
  dropExpiredSessions,
  dropIdempotencyKeys,
  dropOldLogins,
  dropPagePictures,
  dropQuotaUses,
  dropRunContents,
  inBatches,
} from "./housekeeping.ts";

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate projects, sessions, login_links cascade");
  projectId = await seedProject(database.pool);
});

async function values(sql: string): Promise<readonly unknown[]> {
  return (await database.pool.query({ text: sql, rowMode: "array" })).rows.map((row) => row[0]);
}

async function finalJob(status: string, endedAgo: string): Promise<string> {
  const { pool } = database;
  const id = await seedJob(pool, projectId);
  await alterJob(pool, id, `status = '${status}', ended_at = now() - interval '${endedAgo}'`);
  await pool.query("insert into steps (job_id, number, messages) values ($1, 1, '[{}]')", [id]);
  await pool.query("insert into overlay (job_id, path, mode, content) values ($1, 'a.md', '100644', '\\x00')", [id]);
  await pool.query("insert into page_pictures values ($1, 'a.md', 390, 'after', 800, '[]', '\\x00')", [id]);
  return id;
}

test("deliveries go some days after, unless they are still to be sent", async () => {
  const { pool } = database;
  await pool.query(
    "insert into webhooks (id, project_id, url, secret, events) values ('whk', $1, 'https://x.test', '', '{job.completed}')",
    [projectId],
  );
  await finalJob("completed", "40 days");
  await pool.query(`update deliveries set created_at = now() - interval '40 days'`);
  expect(await dropDeliveries(pool, 30)).toBe(0);
  await pool.query(`update deliveries set state = 'failed'`);
  await finalJob("completed", "1 day");
  expect(await dropDeliveries(pool, 30)).toBe(1);
  expect(await values("select state from deliveries")).toEqual(["pending"]);
});

test("an automation's history goes after months, but what waits or made a job", async () => {
  const { pool } = database;
  const { id } = await seedAutomation(pool, projectId);
  const states = { waiting: "200 days", started: "200 days", skipped: "200 days", merged: "10 days" };
  for (const [state, age] of Object.entries(states)) {
    await pool.query(
      `insert into automation_runs (automation_id, event, values, words, state, settled_at)
       values ($1, $2::text, '{}', '', $2, case when $2 <> 'waiting' then now() - $3::interval end)`,
      [id, state, age],
    );
  }
  expect(await dropAutomationRuns(pool, 90)).toBe(1);
  expect(await values("select state from automation_runs order by state")).toEqual(["merged", "started", "waiting"]);
});

test("idempotency keys go after their day, and not before", async () => {
  const { pool } = database;
  for (const age of ["23 hours", "24 hours", "26 hours"]) {
    await pool.query(
      "insert into idempotency_keys (project_id, key, body_hash, job_id, response, created_at) values ($1, $2::text, '', '', '', now() - $2::text::interval)",
      [projectId, age],
    );
  }
  expect(await dropIdempotencyKeys(pool)).toBe(1);
  expect(await values("select key from idempotency_keys order by created_at desc")).toEqual(["23 hours", "24 hours"]);
});

test("uses stay for longer than any window that counts them", async () => {
  const { pool } = database;
  for (const age of ["61 minutes", "3 hours"]) {
    await pool.query("insert into quota_uses values ($1, 'create', now() - $2::interval)", [projectId, age]);
  }
  expect(await dropQuotaUses(pool)).toBe(1);
  expect(await values("select count(*)::int from quota_uses where used_at > now() - interval '2 hours'")).toEqual([1]);
});

test("messages and edits of a job go some days after its end; what it used and did stays", async () => {
  const { pool } = database;
  const [old, recent] = [await finalJob("completed", "8 days"), await finalJob("failed", "6 days")];
  const running = await finalJob("active", "8 days");
  expect(await dropRunContents(pool, 7)).toBe(1);
  expect(await values("select job_id from overlay order by job_id")).toEqual([recent, running].sort());
  // Reviewers see pictures until the pull request is merged or closed.
  await alterJob(pool, old, `pull_request = '{"number": 1, "state": "open"}'`);
  expect(await dropPagePictures(pool, 7)).toBe(0);
  await alterJob(pool, old, `pull_request = '{"number": 1, "state": "merged"}'`);
  expect(await dropPagePictures(pool, 7)).toBe(1);
  expect(await values("select job_id from page_pictures order by job_id")).toEqual([recent, running].sort());
  expect(await values(`select messages from steps where job_id = '${old}'`)).toEqual([[]]);
  expect(await values(`select messages from steps where job_id = '${recent}'`)).toEqual([[{}]]);
  expect(await dropRunContents(pool, 7)).toBe(0);
});

test("final jobs past their retention are archived, with an event, and active ones never", async () => {
  const { pool } = database;
  const [old, recent, active] = [
    await finalJob("failed", "31 days"),
    await finalJob("completed", "29 days"),
    await finalJob("active", "31 days"),
  ];
  expect(await archiveByRetention(pool, 30)).toBe(1);
  expect(await readJob(pool, old)).toMatchObject({ status: "archived", archived_at: expect.any(Date) });
  expect((await readEvents(pool, old)).at(-1)).toMatchObject({ kind: "archived", seq: 2 });
  expect([(await readJob(pool, recent)).status, (await readJob(pool, active)).status]).toEqual(["completed", "active"]);
});

test("ended jobs past the age that an operator set are deleted, and none with an open pull request", async () => {
  const { pool } = database;
  const gone = await finalJob("failed", "31 days");
  const stay = [
    await finalJob("completed", "29 days"),
    await finalJob("active", "31 days"),
    await finalJob("completed", "31 days"),
  ];
  await pool.query('update jobs set pull_request = \'{"number": 1, "state": "open"}\' where id = $1', [stay[2]]);
  const isThere = "select count(*)::int from jobs join job_events on job_id = id where id = any ($1)";
  expect(await deleteByRetention(pool, 30)).toBe(1);
  expect((await pool.query(isThere, [[gone]])).rows).toEqual([{ count: 0 }]);
  expect((await pool.query("select from jobs where id = any ($1)", [stay])).rowCount).toBe(3);
});

test("expired sessions and links go, live ones stay", async () => {
  const { pool } = database;
  for (const [name, at] of [
    ["old", "-2 days"],
    ["live", "1 hour"],
  ]) {
    await pool.query("insert into sessions values ($1::text::bytea, 'x', now() + $2::interval)", [name, at]);
    await pool.query("insert into login_links values ($1::text::bytea, '/', now() + $2::interval)", [name, at]);
  }
  expect(await dropExpiredSessions(pool)).toBe(2);
  expect(await values("select token_hash from sessions union all select token_hash from login_links")).toEqual([
    Buffer.from("live"),
    Buffer.from("live"),
  ]);
});

test("a connected program that did not renew its token for a month loses its key, and its records go", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  await pool.query("insert into users (id, email, name, role) values ('usr_bo', 'bo@example.com', 'Bo', 'viewer')");
  for (const _ of ["idle", "live"]) await connectProgram(pool, projectId, "usr_bo");
  await pool.query("update admin_keys set created_at = now() - interval '31 days' where user_id = 'usr_bo'");
  await pool.query(`update oauth_records set expires_at = now() - interval '2 days'
    where key_id = (select min(id) from admin_keys where user_id = 'usr_bo')`);
  await dropExpiredSessions(pool);
  expect(await values("select revoked_at is null from admin_keys where user_id = 'usr_bo' order by id")).toEqual([
    false,
    true,
  ]);
  expect(await values("select count(*)::int from oauth_records")).toEqual([1]);
});

test("attempts and logins go after their time; what was changed stays in the log", async () => {
  const { pool } = database;
  await pool.query("insert into login_attempts values ('a', gen_random_uuid(), now() - interval '2 hours')");
  await pool.query("delete from audit_log");
  for (const action of ["login.failed", "key.created"]) {
    await pool.query("insert into audit_log (actor, action, at) values ('x', $1, now() - interval '91 days')", [
      action,
    ]);
    await pool.query("insert into audit_log (actor, action) values ('x', $1)", [action]);
  }
  expect(await dropOldLogins(pool, 92)).toBe(0);
  expect(await dropOldLogins(pool, 90)).toBe(1);
  await dropExpiredSessions(pool);
  expect(await values("select count(*)::int from login_attempts")).toEqual([0]);
  expect(await values("select action from audit_log order by action")).toEqual([
    "key.created",
    "key.created",
    "login.failed",
  ]);
});

test("work continues in batches until a batch is not full", async () => {
  const batches = [3, 3, 1];
  expect(await inBatches(3, async () => ({ rowCount: batches.shift() ?? 0 }))).toBe(7);
  expect(batches).toEqual([]);
});
