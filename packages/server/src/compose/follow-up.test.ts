import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFollowUp } from "./follow-up.ts";

const listPages = async () => ["manual/billing.md", "manual/teams.md"];
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it("continues a job that rests, waits for one at work, and says why an archived one cannot go on", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  const jobId = await seedJob(pool, projectId);
  const followUp = createFollowUp({ pool, promptCodePointsMax: 20, listPages });
  const input = { jobId, projectId, commentId: "c1", prompt: "Fix broken links.", author: "ada" };
  expect(await followUp(input)).toEqual({ kind: "later" });

  const pullRequest = { number: 1, url: "http://x", state: "open", draft: false };
  await pool.query(
    "update jobs set status = 'completed', ended_at = now(), pushed = true, pull_request = $2 where id = $1",
    [jobId, pullRequest],
  );
  const words = expect.stringContaining("20 characters at most");
  expect(await followUp({ ...input, prompt: "😀".repeat(21) })).toEqual({ kind: "refused", words });
  const refused = await followUp({ ...input, prompt: "Make it nicer." });
  expect(refused).toMatchObject({ kind: "refused", words: expect.stringContaining("«Make it nicer»") });
  // Its examples name pages of this site.
  const onSite = await createFollowUp({ pool, promptCodePointsMax: 60, listPages })({
    ...input,
    prompt: "Rename the page billing nicely",
  });
  expect(onSite).toMatchObject({ kind: "refused", words: expect.stringContaining("manual/billing") });
  expect(onSite).not.toMatchObject({ words: expect.stringContaining("quickstart") });
  expect(await readJob(pool, jobId)).toMatchObject({ status: "completed", comments_heard: [] });
  expect(await followUp(input)).toEqual({ kind: "accepted" });
  expect(await readJob(pool, jobId)).toMatchObject({ status: "active", phase: "queued" });
  expect(await followUp(input)).toEqual({ kind: "heard" });
  const { rows } = await pool.query("select prompt, created_by from job_messages where job_id = $1", [jobId]);
  expect(rows).toEqual([{ prompt: "Fix broken links.", created_by: "comment/ada" }]);

  await pool.query("update jobs set status = 'archived', archived_at = now(), ended_at = now() where id = $1", [jobId]);
  expect(await followUp({ ...input, commentId: "c2" })).toMatchObject({
    kind: "refused",
    words: expect.stringContaining("archived"),
  });
});

it("hears a comment with the message it becomes, or not at all", async () => {
  const { pool } = database;
  const jobId = await seedJob(pool, await seedProject(pool));
  await pool.query("update jobs set status = 'completed', ended_at = now() where id = $1", [jobId]);
  const { project_id: projectId } = await readJob(pool, jobId);
  const followUp = createFollowUp({ pool, promptCodePointsMax: 20, listPages });
  const input = { jobId, projectId, commentId: "c1", prompt: "Fix links.", author: "ada" };

  // The state after a process died between the two writes.
  await pool.query("alter table job_messages add constraint dies check (prompt <> 'Fix links.')");
  await expect(followUp(input)).rejects.toThrow();
  expect(await readJob(pool, jobId)).toMatchObject({ status: "completed", comments_heard: [] });
  await pool.query("alter table job_messages drop constraint dies");

  const outcomes = await Promise.all(Array.from({ length: 5 }, () => followUp(input)));
  expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(["accepted", "heard", "heard", "heard", "heard"]);
  expect(await readJob(pool, jobId)).toMatchObject({ status: "active", comments_heard: ["c1"] });
});
