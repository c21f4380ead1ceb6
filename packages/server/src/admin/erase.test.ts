import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeMember } from "../accounts/people/members.ts";
import { consoleActor } from "../db/transaction.ts";
import { eraseJob, erasePerson, eraseProject, findPerson } from "./erase.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Every row of every table as text, read without the code under test. */
async function everything(): Promise<string> {
  const { rows: tables } = await database.pool.query(
    "select quote_ident(tablename) as name from pg_tables where schemaname = current_schema()",
  );
  const texts = [];
  for (const { name } of tables) {
    const { rows } = await database.pool.query(`select row_to_json(t)::text as row from ${name} t`);
    texts.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return texts.join("\n");
}

async function seedMuch(): Promise<{ projectId: string; jobId: string }> {
  const { pool } = database;
  const projectId = await seedProject(pool);
  const jobId = await seedJob(pool, projectId, "Praise the quiet heron.");
  await pool.query("update projects set name = 'Heron docs' where id = $1", [projectId]);
  await pool.query(
    `update jobs set status = 'completed', ended_at = now(), created_by = 'user/usr_ada', summary = 'The heron is praised.' where id = $1`,
    [jobId],
  );
  await pool.query(
    "insert into job_messages (job_id, number, prompt, after_step, created_by) values ($1, 1, 'More heron', 0, 'user/usr_ada')",
    [jobId],
  );
  await pool.query(
    `insert into webhooks (id, project_id, url, secret, events) values ('whk_' || right($1, 8), $1, 'https://heron.test/', '', '{}')`,
    [projectId],
  );
  await pool.query("insert into usage_days values (now(), $1, '', 1, 0, 0, 0, 0, 0, 0, 0, 0)", [projectId]);
  await pool.query("insert into monthly_usage (project_id, month, jobs) values ($1, now(), 1)", [projectId]);
  await pool.query("insert into tasks (kind, subject, due_at) values ('answer', $1, 'infinity')", [`${jobId}/1`]);
  await pool.query(
    "insert into audit_log (actor, address, action, target) values ('Ada@Heron.test', '192.0.2.7', 'job.cancelled', $1)",
    [jobId],
  );
  await pool.query(
    `insert into admin_keys (id, secret_hash, hint, name, project_ids, scope, created_by)
     values ('key_' || right($1, 8), '', '', 'ci', array[$1, 'prj_other'], 'write', 'console')`,
    [projectId],
  );
  return { projectId, jobId };
}

test("an erased project is named nowhere, others stay, and what went was exported first", async () => {
  const { pool } = database;
  const other = await seedProject(pool);
  const otherJob = await seedJob(pool, other, "Praise the crane.");
  const { projectId, jobId } = await seedMuch();
  const kept: string[] = [];
  const project = { id: projectId, name: "Heron docs" };
  const { rows } = await eraseProject(pool, project, consoleActor, (table, row) => void kept.push(`${table} ${row}`));
  expect(rows).toMatchObject({
    projects: 1,
    jobs: 1,
    job_messages: 1,
    webhooks: 1,
    usage_days: 1,
    audit_log: expect.any(Number),
    admin_keys: 1,
    tasks: 1,
  });
  const left = await everything();
  expect(left).not.toMatch(new RegExp(`${projectId}|${jobId}|heron`, "i"));
  expect(left).toContain("Praise the crane.");
  expect(left).toContain(otherJob);
  expect(left).toContain("project.erased");
  expect(kept.join("\n")).toContain("Praise the quiet heron.");
  expect(kept.join("\n")).toContain("More heron");
});

test("an erased job is named nowhere, its project stays, and a running job is refused", async () => {
  const { pool } = database;
  const { projectId, jobId } = await seedMuch();
  const running = await seedJob(pool, projectId, "Praise the stork.");
  await expect(eraseJob(pool, running, consoleActor)).rejects.toThrow(/running/);
  await expect(eraseJob(pool, "job_none", consoleActor)).rejects.toThrow(/not found/);
  await eraseJob(pool, jobId, consoleActor);
  const left = await everything();
  expect(left).not.toMatch(new RegExp(`${jobId}|quiet heron`));
  expect(left).toContain(projectId);
  expect(left).toContain("Praise the stork.");
  await pool.query("update jobs set status = 'failed', ended_at = now() where id = $1", [running]);
  await eraseProject(pool, { id: projectId, name: "Heron docs" }, consoleActor);
});

test("an erased person is named nowhere, and their jobs stay without a name", async () => {
  const { pool } = database;
  await pool.query(
    `insert into users (id, email, name, role) values
       ('usr_ada', 'Ada@Heron.test', 'Ada', 'maintainer'), ('usr_bo', 'bo@crane.test', 'Bo', 'owner')`,
  );
  const { jobId } = await seedMuch();
  await pool.query("update jobs set summary = 'Ask ada@heron.test.' where id = $1", [jobId]);
  await pool.query("insert into chat_accounts (chat, account, user_id) values ('slack', 'U0ADA', 'usr_ada')");
  await pool.query(
    `insert into chat_messages (id, chat, channel, thread, message, author, said) values
       ('chm_1', 'slack', 'C1', '1.1', '1.1', 'U0ADA', '{"text": "In this thread:\\nU0ADA: See <@U0ADA>."}'),
       ('chm_2', 'slack', 'C1', '1.1', '1.2', 'U0ADAM', null)`,
  );
  const { rows } = await erasePerson(pool, { id: "usr_ada", email: "Ada@Heron.test" }, consoleActor);
  expect(rows).toMatchObject({ users: 1, jobs: 2, audit_log: expect.any(Number) });
  const left = await everything();
  expect(left).not.toMatch(/usr_ada|ada@heron\.test|192\.0\.2\.7|U0ADA(?!M)/i);
  expect(left).toContain("bo@crane.test");
  expect(left).toContain("U0ADAM");
  expect(left).toContain("member.erased");
  const { rows: jobs } = await pool.query("select created_by, summary from jobs where id = $1", [jobId]);
  expect(jobs).toEqual([{ created_by: "user/erased", summary: "Ask erased." }]);
  const bo = { id: "usr_bo", email: "bo@crane.test" };
  await expect(erasePerson(pool, bo, consoleActor)).rejects.toThrow(/last owner/);
});

test("people whom the directory knows are erased there, one after the other", async () => {
  const { pool } = database;
  for (const name of ["eve", "fay"]) {
    const email = `${name}@ibis.test`;
    await pool.query("insert into users (id, email, name, role) values ($1, $2, $3, 'viewer')", [
      `usr_${name}`,
      email,
      `${name} Ibis`,
    ]);
    await pool.query(
      `insert into directory_users (id, user_name, external_id, email, name, active, attributes, user_id)
       values ($1, $2, $3, $2, $4, true, jsonb_build_object('displayName', $4::text), $5)`,
      [`dru_${name}`, email, `ext-${name}`, `${name} Ibis`, `usr_${name}`],
    );
    const { rows } = await erasePerson(pool, { id: `usr_${name}`, email }, consoleActor);
    expect(rows).toMatchObject({ users: 1, directory_users: 1 });
  }
  expect(await everything()).not.toMatch(/ibis|ext-eve|ext-fay/i);
});

test("somebody who was removed is erased by their address, with the id that they had", async () => {
  const { pool } = database;
  await pool.query("insert into users (id, email, name, role) values ('usr_gus', 'Gus@Rail.test', 'Gus', 'viewer')");
  await pool.query(
    `insert into directory_users (id, user_name, email, name, active, attributes)
     values ('dru_gus', 'gus@rail.test', 'gus@rail.test', 'Gus Rail', false, '{}')`,
  );
  await removeMember(pool, "usr_gus", consoleActor);
  const { jobId } = await seedMuch();
  await pool.query("update jobs set created_by = 'user/usr_gus' where id = $1", [jobId]);
  const person = await findPerson(pool, "gus@RAIL.test");
  expect(person).toEqual({ id: null, email: "gus@rail.test" });
  if (person) await erasePerson(pool, person, consoleActor);
  expect(await everything()).not.toMatch(/usr_gus|rail/i);
  expect(await findPerson(pool, "gus@rail.test")).toBeNull();
});
