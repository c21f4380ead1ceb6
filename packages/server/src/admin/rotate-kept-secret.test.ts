import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import pino from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openModelKey, setModelKey } from "../accounts/keys/model-keys.ts";
import { createSealer } from "../accounts/secrets.ts";
import { startListener } from "../db/listener.ts";
import { rotateKeptSecret } from "./rotate-kept-secret.ts";

const [old, next] = ["o".repeat(40), "n".repeat(40)];
let database: TestDatabase;
let projectId: string;
let dataDir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool);
});
afterAll(() => database.drop());
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "emend-rotate-"));
  await writeFile(join(dataDir, "secret"), old);
  await seal(old);
});
afterEach(() => rm(dataDir, { recursive: true }));

const seal = (secret: string) =>
  setModelKey({ db: database.pool, sealer: createSealer(secret) }, { projectId, vendor: "openai", key: "sk-1" });
const opens = (secret: string) =>
  openModelKey({ db: database.pool, sealer: createSealer(secret) }, projectId, "openai").then(
    (key) => key === "sk-1",
    () => false,
  );
const kept = () => readFile(join(dataDir, "secret"), "utf8");
const rotate = (input: { from?: string; to?: string }, secret: string | null = null) =>
  rotateKeptSecret(
    { pool: database.pool, config: { secret, dataDir }, secret: old },
    { from: input.from ?? null, to: input.to ?? null },
  );

test("a weak secret, the same one and a missing one are refused, and nothing changes", async () => {
  await expect(rotate({ to: "weak" })).rejects.toThrow("at least 32 characters");
  await expect(rotate({ to: old })).rejects.toThrow("is the old one");
  await expect(rotate({}, old)).rejects.toThrow("must be given too");
  expect([await kept(), await opens(old)]).toEqual([old, true]);
});

test("a secret of the environment's is replaced in the database, and no file is touched", async () => {
  expect(await rotate({ to: next }, old)).toEqual({ resealed: 1, keptIn: null });
  expect([await kept(), await opens(next), await opens(old)]).toEqual([old, true, false]);
});

test.each([
  ["before", old],
  ["after", next],
])("a rotation killed %s the database's commit is finished with the secret that it had chosen", async (_, sealed) => {
  await writeFile(join(dataDir, "secret.next"), next);
  await seal(sealed);
  await expect(rotate({ to: "x".repeat(40) })).rejects.toThrow("Finish it first");
  expect(await rotate({})).toEqual({ resealed: 1, keptIn: join(dataDir, "secret") });
  expect([await kept(), await opens(next)]).toEqual([next, true]);
});

test("what was sealed with yet another secret is opened by naming that", async () => {
  const former = "f".repeat(40);
  await seal(former);
  await expect(rotate({})).rejects.toThrow("another EMEND_SECRET");
  expect(await rotate({ from: former, to: next })).toMatchObject({ resealed: 1 });
  expect(await opens(next)).toBe(true);
});

test("it is refused while a server of the installation listens", async () => {
  const listener = await startListener({ url: database.url, log: pino({ level: "silent" }) });
  try {
    await expect(rotate({ to: next })).rejects.toThrow("Stop every one of them first");
  } finally {
    await listener.close();
  }
});
