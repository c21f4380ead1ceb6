import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSealer } from "../secrets.ts";
import { openModelKey, setModelKey } from "./model-keys.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a project's own key is stored sealed, replaced, taken away, and seen by no other project", async () => {
  const deps = { db: database.pool, sealer: createSealer("a secret of thirty-two characters") };
  const projectId = await seedProject(database.pool);
  const other = await seedProject(database.pool);
  expect(await openModelKey(deps, projectId, "openai")).toBeNull();
  await setModelKey(deps, { projectId, vendor: "openai", key: "sk-first" });
  await setModelKey(deps, { projectId, vendor: "openai", key: "sk-second" });
  expect(await openModelKey(deps, projectId, "openai")).toBe("sk-second");
  expect(await openModelKey(deps, projectId, "anthropic")).toBeNull();
  expect(await openModelKey(deps, other, "openai")).toBeNull();
  const { rows } = await database.pool.query("select credential from model_keys");
  expect(rows[0].credential.toString("latin1")).not.toContain("sk-second");
  await setModelKey(deps, { projectId, vendor: "openai", key: null });
  expect(await openModelKey(deps, projectId, "openai")).toBeNull();
});
