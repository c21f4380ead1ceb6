import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { setModelKey } from "../accounts/keys/model-keys.ts";
import { createSealer } from "../accounts/secrets.ts";
import { rotateSecret } from "../admin/rotate-kept-secret.ts";
import { assertSecret, opensCanary } from "./sealed-values.ts";

const [right, wrong] = ["r".repeat(40), "w".repeat(40)];
let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const start = (secret: string) => assertSecret(database.pool, secret, { secret, dataDir: "/srv/emend" });
const refusal = /^EMEND_SECRET is not the secret that this database's credentials are sealed with/;

test("a new installation keeps the first secret, and refuses another before and after a rotation", async () => {
  expect(await opensCanary(database.pool, createSealer(wrong))).toBe(true);
  await start(right);
  await start(right);
  await expect(start(wrong)).rejects.toThrow(refusal);
  expect(await opensCanary(database.pool, createSealer(wrong))).toBe(false);
  await expect(rotateSecret(database.pool, { from: ["x".repeat(40)], to: wrong })).rejects.toThrow(
    "another EMEND_SECRET",
  );
  await rotateSecret(database.pool, { from: [right], to: wrong });
  await start(wrong);
  await expect(start(right)).rejects.toThrow(refusal);
  expect((await database.pool.query("select from audit_log")).rowCount).toBe(0);
});

test("of two nodes that start together with two secrets one is refused", async () => {
  const outcomes = await Promise.allSettled([start(right), start(wrong)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("an installation from before the canary learns its secret by what is stored", async () => {
  const projectId = await seedProject(database.pool);
  const seal = (secret: string, vendor: string) =>
    setModelKey({ db: database.pool, sealer: createSealer(secret) }, { projectId, vendor, key: "sk-1" });
  await seal(right, "openai");
  await expect(start(wrong)).rejects.toThrow(refusal);
  // A value that was already lost does not stop it.
  await seal(wrong, "anthropic");
  await start(right);
  await expect(start(wrong)).rejects.toThrow(refusal);
});

test("an installation that generated its secret prints where it is", async () => {
  await start(right);
  await expect(assertSecret(database.pool, wrong, { secret: null, dataDir: "/srv/emend" })).rejects.toThrow(
    "The secret in /srv/emend/secret is not",
  );
});
