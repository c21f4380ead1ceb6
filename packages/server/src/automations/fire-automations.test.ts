import { automationDeps, historyOf, seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Automation } from "./automation.ts";
import { findAutomation, setPaused } from "./automation-store.ts";
import { fireAutomations, fireDue } from "./fire-automations.ts";

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

const hourly = { kind: "cron", expression: "0 * * * *", timezone: "UTC" } as const;
/** Not due during a test. */
const yearly = { ...hourly, expression: "0 0 1 1 *" };

/** Sets when it became due, in the past. */
async function wasDue(automation: Automation, ago: string): Promise<void> {
  await database.pool.query(
    "update automations set due_at = date_trunc('minute', clock_timestamp() - $2::interval) where id = $1",
    [automation.id, ago],
  );
}
const jobs = async () => (await database.pool.query("select id, prompt, created_by from jobs")).rows;

test("a time that has come makes one job, and the next time is set", async () => {
  const automation = await seedAutomation(database.pool, projectId, {
    trigger: hourly,
    prompt: "Fix links, {{date}}.",
  });
  expect(await fireAutomations(automationDeps(database.pool))).toBe(0);
  expect(await jobs()).toEqual([]);
  await wasDue(automation, "1 minute");
  await fireAutomations(automationDeps(database.pool));
  const [job, ...others] = await jobs();
  expect(others).toEqual([]);
  expect(job).toMatchObject({ created_by: `automation/${automation.id}` });
  expect(job.prompt).toMatch(/^Fix links, \d{4}-\d\d-\d\d\.$/);
  expect(await historyOf(database.pool, automation.id)).toEqual([
    { state: "started", words: `Started job ${job.id}.` },
  ]);
  const { dueAt } = await findAutomation(database.pool, automation.id);
  expect(dueAt?.getTime()).toBeGreaterThan(Date.now());
  expect(dueAt?.getUTCMinutes()).toBe(0);
});

test("nodes that see the same time at the same moment make one job", async () => {
  const automations = await Promise.all(
    ["a", "b", "c", "d"].map((name) => seedAutomation(database.pool, projectId, { name, trigger: yearly })),
  );
  for (const automation of automations) await wasDue(automation, "1 minute");
  const nodes = [automationDeps(database.pool), automationDeps(database.pool), automationDeps(database.pool)];
  await Promise.all(nodes.map((node) => fireAutomations(node)));
  await Promise.all(nodes.map((node) => fireAutomations(node)));
  expect(await jobs()).toHaveLength(automations.length);
  expect((await database.pool.query("select 1 from automation_runs")).rowCount).toBe(automations.length);
});

test("a time that a node read before another one fired it counts once", async () => {
  const automation = await seedAutomation(database.pool, projectId, { trigger: yearly });
  await wasDue(automation, "1 minute");
  const { dueAt } = await findAutomation(database.pool, automation.id);
  expect(await fireDue(database.pool)).toBe(1);
  // The clock was set back: the same time is due again.
  await database.pool.query("update automations set due_at = $2 where id = $1", [automation.id, dueAt]);
  expect(await fireDue(database.pool)).toBe(0);
});

test("one run makes up for all times that were missed while no node ran", async () => {
  const automation = await seedAutomation(database.pool, projectId, { trigger: hourly });
  await wasDue(automation, "3 days");
  expect(await fireDue(database.pool)).toBe(1);
  expect(await fireDue(database.pool)).toBe(0);
});

test("a paused automation does not run, and starts fresh when it is resumed", async () => {
  const automation = await seedAutomation(database.pool, projectId, { trigger: yearly });
  await setPaused(database.pool, automation.id, true);
  await wasDue(automation, "1 hour");
  expect(await fireDue(database.pool)).toBe(0);
  await setPaused(database.pool, automation.id, false);
  expect(await fireDue(database.pool)).toBe(0);
  expect((await findAutomation(database.pool, automation.id)).pausedAt).toBeNull();
});

test("a run waits while the quota is used up, and becomes a job once one fits", async () => {
  const limited = await seedProject(database.pool, { createsPerHourMax: 1 });
  const first = await seedAutomation(database.pool, limited, { name: "first", trigger: yearly });
  const second = await seedAutomation(database.pool, limited, { name: "second", trigger: yearly });
  const node = automationDeps(database.pool);
  await wasDue(first, "2 minutes");
  await wasDue(second, "1 minute");
  await fireAutomations(node);
  const histories = await Promise.all([first, second].map(({ id }) => historyOf(database.pool, id)));
  const waiting = histories.flat().filter(({ state }) => state === "waiting");
  expect(waiting).toEqual([
    { state: "waiting", words: "The project reached its job limit. Emend retries when there is room." },
  ]);
  expect(await jobs()).toHaveLength(1);
  // Not checked again before a run can start.
  expect(await fireAutomations(node)).toBe(0);
  await database.pool.query("update quota_uses set used_at = used_at - interval '2 hours'");
  await database.pool.query("update automation_runs set try_at = clock_timestamp() where state = 'waiting'");
  await fireAutomations(node);
  expect(await jobs()).toHaveLength(2);
});

test("one failing automation does not delay others, and is tried again", async () => {
  const { newJobRules } = automationDeps(database.pool);
  const elsewhere = await seedProject(database.pool);
  const bad = await seedAutomation(database.pool, elsewhere, { trigger: yearly });
  const good = await seedAutomation(database.pool, projectId, { trigger: yearly });
  await wasDue(bad, "2 minutes");
  await wasDue(good, "1 minute");
  const faulty = automationDeps(database.pool, {
    newJobRules(project, model) {
      if (project.id === elsewhere) throw new Error("a fault");
      return newJobRules(project, model);
    },
  });
  await fireAutomations(faulty);
  expect(await historyOf(database.pool, bad.id)).toMatchObject([{ state: "waiting" }]);
  expect(await historyOf(database.pool, good.id)).toMatchObject([{ state: "started" }]);
  await fireAutomations(automationDeps(database.pool));
  expect(await historyOf(database.pool, bad.id)).toMatchObject([{ state: "started" }]);
});

test("a model that the project no longer allows is an error", async () => {
  const automation = await seedAutomation(database.pool, projectId, { trigger: yearly });
  await database.pool.query("update automations set model = 'x'");
  await wasDue(automation, "1 minute");
  await fireAutomations(automationDeps(database.pool));
  expect(await historyOf(database.pool, automation.id)).toEqual([
    { state: "skipped", words: "Skipped: the project no longer allows the model x." },
  ]);
});
