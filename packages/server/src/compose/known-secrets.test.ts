import { seedAutomation } from "@emend/testkit/automations.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSealer } from "../accounts/secrets.ts";
import { webhookSecretOf } from "../automations/webhook.ts";
import { readModelSettings } from "../config/model-settings.ts";
import { createSettingReader } from "../config/setting-reader.ts";
import { knownSecretsOf } from "./known-secrets.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const secret = "a secret of thirty-two characters";
const noConfig = {
  modelEndpoints: {},
  metricsToken: null,
  databaseUrl: null,
  databaseListenUrl: null,
  databaseReadUrl: null,
  smtp: null,
  slack: null,
  mattermost: null,
  knowledgePrograms: { path: "", byName: {} },
};

test("a job must not show the keys of models, nor what opens a cloud", async () => {
  const env = {
    OPENAI_API_KEY: "sk-of-openai",
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIAOWN",
    AWS_SECRET_ACCESS_KEY: "secret-of-aws",
    AWS_SESSION_TOKEN: "token-of-aws",
    AZURE_CLIENT_SECRET: "secret-of-azure",
  };
  const { modelEndpoints } = readModelSettings(createSettingReader(env));
  const files = { command: ["files"] as [string], folders: [], env: { DEPTH: "3", WIKI_TOKEN: "token-of-the-wiki" } };
  const config = { ...noConfig, modelEndpoints, knowledgePrograms: { path: "", byName: { files } } };
  const deps = { config, pool: database.pool, sealer: createSealer(secret), secret };
  const projectId = await seedProject(database.pool);
  const trigger = { kind: "webhook" } as const;
  const { id } = await seedAutomation(database.pool, projectId, { trigger, prompt: "Look.{{event}}" });
  const known = await knownSecretsOf(deps, projectId);
  expect(known).toContain(await webhookSecretOf(deps, id));
  const expected = ["sk-of-openai", "secret-of-aws", "token-of-aws", "secret-of-azure", "token-of-the-wiki", secret];
  expect(known).toEqual(expect.arrayContaining(expected));
  expect(known).not.toContain("eu-central-1");
  expect(known).not.toContain("3");
});

test("a database that becomes unavailable meanwhile fails the job's step, not the process", async () => {
  const away = new Error("Connection terminated");
  // The credential fails while the rest is still read. An unhandled rejection ends a process, and fails this test.
  const query = async (text: string) => {
    if (text.includes("credential from projects")) throw away;
    await new Promise((resolve) => setImmediate(resolve));
    return { rows: [] };
  };
  const pool = { query } as unknown as TestDatabase["pool"];
  const deps = { config: noConfig, pool, sealer: createSealer(secret), secret };
  await expect(knownSecretsOf(deps, "prj_1")).rejects.toBe(away);
});
