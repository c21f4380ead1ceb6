import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../test/support/database.ts";
import { addProject } from "./accounts/add-project.ts";
import { openModelKey, setModelKey } from "./accounts/model-keys.ts";
import { openProjectCredential } from "./accounts/project-credential.ts";
import { createSealer } from "./accounts/secrets.ts";
import { rotateSecret } from "./rotate-secret.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("everything sealed opens with the new secret alone; a wrong old one changes nothing", async () => {
  const secrets = { from: "the old secret, of thirty-two or more", to: "the new secret, of thirty-two or more" };
  const db = database.pool;
  const old = { db, sealer: createSealer(secrets.from) };
  const { id } = await addProject(old, {
    name: "Docs",
    forge: "github",
    repositoryUrl: "https://github.com/a/b",
    credential: "forge-token",
  });
  await setModelKey(old, { projectId: id, vendor: "openai", key: "sk-model" });

  await expect(rotateSecret(db, { from: "quite another secret than the old", to: secrets.to })).rejects.toThrow();
  expect(await openModelKey(old, id, "openai")).toBe("sk-model");

  expect(await rotateSecret(db, secrets)).toEqual({ resealed: 2 });
  const fresh = { db, sealer: createSealer(secrets.to) };
  expect(await openProjectCredential(fresh, id)).toBe("forge-token");
  expect(await openModelKey(fresh, id, "openai")).toBe("sk-model");
  await expect(openModelKey(old, id, "openai")).rejects.toThrow();
  expect(await rotateSecret(db, secrets)).toEqual({ resealed: 2 });
});
