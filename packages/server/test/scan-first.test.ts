import { createLogger } from "@emend/base/logger.ts";
import type { Forge } from "@emend/forges";
import { automationDeps, seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getProject } from "../src/accounts/projects/projects.ts";
import { dispatchAutomation, recordByHand } from "../src/automations/dispatch-automation.ts";
import type { Pool } from "../src/db/pool.ts";
import { startDocsJob } from "../src/gate/start-docs-job.ts";
import { newJobRules } from "../src/http/parse-create-body.ts";
import { hearIssue } from "../src/issues/hear-issue.ts";

let database: TestDatabase;
let projectId: string;
let pool: Pool;
let transactions = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool, { issueTriggers: true, model: "anthropic/claude-opus-4-1" });
  pool = new Proxy(database.pool, {
    get(target, name) {
      if (name === "connect") transactions += 1;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
});
afterAll(() => database.drop());

/** More credentials than the scanner takes: it refuses the prompt. */
const unsearchable = Array.from(
  { length: 501 },
  (_, index) => `ghp${"_"}${String(index).padStart(4, "0")}456789abcdefABCDEF0123456789abcd`,
).join(" ");
const { signal } = new AbortController();
const shared = { announceDue: () => {}, newJobRules, defaultModel: "emend/rules" };

async function transactionsOf(work: () => Promise<unknown>): Promise<number> {
  transactions = 0;
  await work();
  return transactions;
}

test("an automation's prompt is scanned before its transaction begins", async () => {
  const automation = await seedAutomation(database.pool, projectId);
  await database.pool.query("update automations set prompt = $2 where id = $1", [automation.id, unsearchable]);
  await recordByHand(database.pool, automation);
  const dispatch = () => dispatchAutomation(automationDeps(pool), automation.id);
  expect(await transactionsOf(() => expect(dispatch()).rejects.toThrow("credentials"))).toBe(0);
});

test("a docs pull request's prompt is scanned before its transaction begins", async () => {
  const pull = { url: "https://forge.test/3", title: "Rename", head: "topic", base: "main", isFork: false };
  const finding = { check: "stale-name", severity: "error", path: "a.md", line: 1, message: unsearchable };
  await database.pool.query(
    `insert into gate_statuses (id, project_id, repository, head, name, number, pull, words, findings)
     values ('gat_1', $1, 'x', 'y', 'emend', 3, $2, 'Found.', $3)`,
    [projectId, pull, JSON.stringify([finding])],
  );
  const make = () => startDocsJob({ ...shared, pool }, { id: "gat_1", createdBy: "test" });
  expect(await transactionsOf(() => expect(make()).rejects.toThrow("credentials"))).toBe(0);
});

test("an issue's prompt is scanned before the transaction that refuses it", async () => {
  const comment = { id: "1", author: "ada", isBot: false, at: new Date(), text: `@emend ${unsearchable}` };
  const forge = {
    issues: {
      read: async () => ({ title: "Typo", body: "", isOpen: true, labels: [] }),
      listComments: async () => [comment],
    },
    conversation: { mayWrite: async () => "yes" },
  } as unknown as Forge;
  const deps = {
    ...shared,
    pool,
    log: createLogger({ level: "silent" }),
    promptCodePointsMax: 100_000,
    publicUrl: () => "https://emend.test",
    findProject: (id: string) => getProject(database.pool, id),
    openForge: async () => forge,
    askAnswer: async () => {},
  };
  expect(await transactionsOf(() => hearIssue(deps, { projectId, number: 1 }, signal))).toBe(1);
});
