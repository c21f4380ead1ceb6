import { createTestDatabase } from "@emend/testkit/database.ts";
import { alterJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, expect, test } from "vitest";
import { readRun } from "./run-report.ts";

const database = await createTestDatabase();
afterAll(() => database.drop());

test("a forge that does not answer to a create is waited for", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  const id = await seedJob(pool, projectId);
  const waiting = async () => (await readRun(pool, { id, projectId }))?.waiting;
  const sent = (ago: string) =>
    alterJob(
      pool,
      id,
      `lease = gen_random_uuid(), phase = 'publishing', updated_at = now() - interval '${ago}', create_until = now() + interval '1 minute'`,
    );
  await sent("1 second");
  expect(await waiting()).toBe(null);
  await sent("45 seconds");
  expect(await waiting()).toMatchObject({
    for: "forge",
    nextTryAt: null,
    message: expect.stringContaining("not answered"),
  });
});
