import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startServer } from "../src/compose/compose.ts";
import { loadConfig } from "../src/config/config.ts";

let database: TestDatabase;
let dir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), "emend-split-"));
});
afterAll(async () => {
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

function start(role: "all" | "api" | "worker", more: Record<string, string> = {}) {
  const env = {
    EMEND_DATABASE_URL: database.url,
    EMEND_SECRET: "the secret of a test, and of nothing else",
    EMEND_DATA_DIR: join(dir, "data"),
    EMEND_PUBLIC_URL: "http://127.0.0.1:4600",
    EMEND_LOG_LEVEL: "silent",
    ...more,
  };
  return startServer(loadConfig(env, { role, port: 0 }));
}

it("a process on a shared database starts beside projects of the local forge only where their folder is declared shared", async () => {
  const alone = await start("worker");
  await alone.stop();
  await database.pool.query(
    "insert into projects (id, name, forge, repository_url) values ('prj_1', 'Docs', 'local', 'http://localhost/x')",
  );
  await expect(start("worker")).rejects.toThrow(/EMEND_FORGE_DIR/);
  await expect(start("api")).rejects.toThrow(/EMEND_FORGE_DIR/);
  await expect(start("all")).rejects.toThrow(/EMEND_FORGE_DIR/);
  const shared = await start("worker", { EMEND_FORGE_DIR: join(dir, "forge") });
  await shared.stop();
});
