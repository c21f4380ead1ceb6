import { randomBytes } from "node:crypto";
import { createLogger } from "@emend/base/logger.ts";
import type { TestProject } from "vitest/node";
import { migrate } from "../../server/src/db/migrate.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { runOnServer, withDatabaseName } from "./server.ts";
import { startThrowAwayServer } from "./throw-away-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    testServer: {
      /** A database of the server with which tests create others. */
      url: string;
      template: string;
    };
  }
}

/**
 * One Postgres per run, with a migrated template that `createTestDatabase` clones: a temporary one from the embedded
 * binaries, or the server of EMEND_TEST_DATABASE_URL.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const externalUrl = process.env.EMEND_TEST_DATABASE_URL;
  const server = externalUrl ? undefined : await startThrowAwayServer();
  const url = externalUrl ?? server?.url ?? "";
  const template = `emend_template_${randomBytes(6).toString("hex")}`;
  try {
    await createTemplate(url, template);
  } catch (error) {
    await server?.stop();
    throw error;
  }
  project.provide("testServer", { url, template });
  return async () => {
    if (server) return server.stop();
    await runOnServer(url, `drop database if exists ${template} with (force)`);
  };
}

async function createTemplate(url: string, template: string): Promise<void> {
  // template0, because it allows another encoding and collation than the server's default.
  const collation = process.env.EMEND_TEST_COLLATION;
  const icu = collation === undefined ? "" : `locale_provider icu icu_locale '${collation}'`;
  await runOnServer(url, `create database ${template} template template0 encoding 'UTF8' ${icu}`);
  const pool = createPool({
    url: withDatabaseName(url, template),
    connectionsMax: 1,
    log: createLogger({ level: "warn" }),
  });
  await migrate(pool).finally(() => pool.end());
}
