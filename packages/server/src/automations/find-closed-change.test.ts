import { deflateSync } from "node:zlib";
import { seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeIdOf, findClosedChange } from "./poll-triggers.ts";

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool);
});
afterAll(() => database.drop());

const diffOf = (line: number, added: string, path = "a.md", context = "around") =>
  `diff --git a/${path} b/${path}\nindex ${line}1f..${line}2f 100644\n--- a/${path}\n+++ b/${path}\n@@ -${line} +${line} @@ ${context}\n ${context}\n-old\n+${added}\n`;

test("a change is the same wherever its lines have moved, and another where they differ", () => {
  const id = changeIdOf(diffOf(1, "new"));
  expect(changeIdOf(diffOf(9, "new", "a.md", "other"))).toBe(id);
  expect(changeIdOf(diffOf(1, "new!"))).not.toBe(id);
  expect(changeIdOf(diffOf(1, "new", "b.md"))).not.toBe(id);
});

async function proposed(automationId: string, state: string, diff: string, byHand = false): Promise<string> {
  const jobId = await seedJob(database.pool, projectId);
  const url = `http://forge.test/${jobId}`;
  await database.pool.query("update jobs set diff = $2, pull_request = $3, ended_at = now() where id = $1", [
    jobId,
    deflateSync(diff),
    { number: 1, url, state, draft: false },
  ]);
  await database.pool.query(
    `insert into automation_runs (automation_id, event, values, words, state, job_id, by_hand)
     values ($1, $2, '{}', '', 'started', $2, $3)`,
    [automationId, jobId, byHand],
  );
  return jobId;
}

test("only what the same automation proposed and people closed unmerged is found", async () => {
  const own = await seedAutomation(database.pool, projectId, { name: "own" });
  const other = await seedAutomation(database.pool, projectId, { name: "other" });
  const closed = await proposed(own.id, "closed", diffOf(1, "closed"));
  await proposed(own.id, "merged", diffOf(1, "merged"));
  await proposed(other.id, "closed", diffOf(1, "elsewhere"));
  const job = await proposed(own.id, "open", "");
  const find = (diff: string, id = job) => findClosedChange(database.pool, id, Buffer.from(diff));
  expect(await find(diffOf(7, "closed"))).toBe(`http://forge.test/${closed}`);
  expect(await find(diffOf(1, "merged"))).toBeNull();
  expect(await find(diffOf(1, "elsewhere"))).toBeNull();
  expect(await find(diffOf(1, "closed"), await seedJob(database.pool, projectId))).toBeNull();
  expect(await find(diffOf(1, "closed"), await proposed(own.id, "open", "", true))).toBeNull();
});
