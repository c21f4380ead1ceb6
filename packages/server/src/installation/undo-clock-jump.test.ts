import { createLogger } from "@emend/base/logger.ts";
import { seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { alterJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, expect, test } from "vitest";
import { askTask } from "../tasks/task-queue.ts";
import { startHeartbeat } from "./nodes.ts";
import { undoClockJump } from "./undo-clock-jump.ts";

const database = await createTestDatabase();
const { pool } = database;
const log = createLogger({ level: "silent" });
afterAll(() => database.drop());

test("when the clock goes back, what was due soon is due soon", async () => {
  const projectId = await seedProject(pool);
  const trigger = { kind: "cron", expression: "* * * * *", timezone: "UTC" } as const;
  const { id: automationId } = await seedAutomation(pool, projectId, { trigger });
  const [retried, asking] = [await seedJob(pool, projectId), await seedJob(pool, projectId)];
  await askTask(pool, "look_at_gate", projectId);
  const old = await startHeartbeat({ pool, log }, "worker");
  expect(await undoClockJump(pool)).toBe(0);

  // As a clock that was an hour ahead left them.
  await alterJob(pool, retried, "run_after = now() + interval '61 minutes', waiting_for = 'forge'");
  await alterJob(pool, asking, "run_after = now() + interval '2 days', waiting_for = 'answer'");
  await pool.query("update tasks set due_at = now() + interval '1 hour'");
  await pool.query("update automations set due_at = now() + interval '1 hour'");
  await pool.query(
    `insert into automation_runs (automation_id, event, values, words, created_at)
     values ($1, 'cron soon', '{}', '', now() + interval '59 minutes')`,
    [automationId],
  );
  await pool.query("update nodes set seen_at = now() + interval '1 hour'");

  const heartbeat = await startHeartbeat({ pool, log }, "worker");
  const { rows } = await pool.query(
    `select (select max(due_at) <= now() + interval '1 second' from tasks) as task,
       (select due_at <= now() + interval '1 minute' from automations) as schedule,
       (select event <> 'cron soon' from automation_runs) as event,
       (select run_after between now() and now() + interval '62 seconds' from jobs where id = $1) as job,
       (select run_after > now() + interval '1 day' from jobs where id = $2) as asks`,
    [retried, asking],
  );
  expect(rows).toEqual([{ task: true, schedule: true, event: true, job: true, asks: true }]);
  expect(await undoClockJump(pool), "once").toBe(0);
  await heartbeat.stop();
  await old.stop();
});
