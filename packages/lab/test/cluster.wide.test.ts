import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { judgeEffects } from "../cluster/judge-effects.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

test("the cluster's judge sees second and missing pull requests, a wrong quota and gaps in events", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  const jobIds = [await seedJob(pool, projectId), await seedJob(pool, projectId)];
  await pool.query("update jobs set pr_link = 'http://forge.test/1'");
  const { rows } = await pool.query<{ branch: string }>("select branch from jobs order by id = $1 desc", [jobIds[0]]);
  const pulls = rows.map(({ branch }) => ({ head: branch }));
  const judged = async (heads: readonly { head: string }[], quota = 2) => {
    const far = { state: { pulls: heads }, violations: [] } as unknown as Parameters<typeof judgeEffects>[1];
    return (await judgeEffects(pool, far, { projectId, quota })).map((entry) => "what" in entry && entry.what);
  };
  expect(await judged(pulls)).toEqual([]);
  const [first = { head: "" }, second = { head: "" }] = pulls;
  expect(await judged([first, first, second])).toEqual([
    `${jobIds[0]} has 2 pull requests`,
    "1 pull requests more than jobs",
  ]);
  expect(await judged([first], 3)).toEqual([
    `${jobIds[1]} has 0 pull requests`,
    "2 jobs were accepted with a quota of 3",
  ]);
  await pool.query("update jobs set event_seq = event_seq + 1 where id = $1", [jobIds[0]]);
  expect(await judged(pulls)).toEqual([`the events of ${jobIds[0]} have a gap`]);
});
