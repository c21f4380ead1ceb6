import { automationDeps, seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Trigger } from "./automation.ts";
import { createAutomations } from "./automation-store.ts";

let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool, { models: ["anthropic/claude"] });
});
afterAll(() => database.drop());

const push = (more: Partial<Extract<Trigger, { kind: "push" }>>): Trigger => {
  return { kind: "push", repository: "api", branches: [], tags: [], include: [], exclude: [], ...more };
};

test.each([
  [{ name: " " }, /name must have 1 to 100/],
  [{ name: "a\nb" }, /name must have 1 to 100/],
  [{ name: "x".repeat(101) }, /name must have 1 to 100/],
  [{ prompt: "Do {{this}}." }, /Unknown variable/],
  [{ trigger: { kind: "cron", expression: "* *", timezone: "UTC" } }, /cron expression/],
  [{ trigger: { kind: "cron", expression: "* * * * *", timezone: "Nowhere" } }, /time zone/],
  [{ trigger: push({}) }, /no context repository "api": it has none/],
  [{ trigger: push({ include: ["/src/**"] }) }, /matches no path/],
  [{ trigger: push({ include: ["../x"] }) }, /matches no path/],
  [{ trigger: push({ tags: [""] }) }, /tags contains a pattern/],
  [{ trigger: push({ exclude: Array.from({ length: 51 }, () => "x") }) }, /more than 50/],
  [{ model: "openai/gpt" }, /model must be one that the project allows: emend\/rules, anthropic\/claude/],
] as const)("refuses %j and stores nothing", async (more, words) => {
  await expect(seedAutomation(database.pool, projectId, more as object)).rejects.toThrow(words);
  expect((await database.pool.query("select 1 from automations")).rowCount).toBe(0);
});

test("is refused for an unknown project, and under a name that is taken", async () => {
  await expect(seedAutomation(database.pool, "prj_none")).rejects.toThrow("project not found");
  await seedAutomation(database.pool, projectId, { model: "anthropic/claude" });
  await expect(seedAutomation(database.pool, projectId)).rejects.toThrow(/already has an automation named "links"/);
});

test("can be listed, shown, paused, resumed and removed; unknown ids are errors", async () => {
  const automations = createAutomations(automationDeps(database.pool));
  const [automation] = await automations.list(projectId);
  expect(automation).toMatchObject({ name: "links", trigger: { kind: "manual" }, pausedAt: null, dueAt: null });
  const id = automation?.id ?? "";
  expect((await automations.pause(id)).pausedAt).toBeInstanceOf(Date);
  expect((await automations.resume(id)).pausedAt).toBeNull();
  await automations.run(id);
  expect(await automations.show(id)).toMatchObject({ automation: { id }, runs: [{ state: "started" }] });
  await automations.remove(id);
  expect(await automations.list(null)).toEqual([]);
  // Its job stays.
  expect((await database.pool.query("select 1 from jobs")).rowCount).toBe(1);
  for (const unknown of [id, "\u0000", "x".repeat(100)]) {
    await expect(automations.show(unknown)).rejects.toThrow("automation not found");
    await expect(automations.run(unknown)).rejects.toThrow("automation not found");
    await expect(automations.remove(unknown)).rejects.toThrow("automation not found");
  }
});
