import { randomBytes } from "node:crypto";
import { createLogger } from "@emend/base/logger.ts";
import type { TestProject } from "vitest/node";
import { migrate } from "../../server/src/db/migrate.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { runOnServer, withDatabaseName } from "./server.ts";
import { bundleTestPrograms } from "./test-programs.ts";
import { startThrowAwayServer } from "./throw-away-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    testServer: {
      /** A database of the server with which tests create others. */
      url: string;
      template: string;
      /** The major version of Postgres. */
      major: number;
    };
  }
}

/**
 * One Postgres per run, with a migrated template that `createTestDatabase` clones: a temporary one from the embedded
 * binaries, or the server of EMEND_TEST_DATABASE_URL.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Inherited by the processes that run tests.
  process.env.EMEND_TEST_PROGRAMS = await bundleTestPrograms();
  const externalUrl = process.env.EMEND_TEST_DATABASE_URL;
  const server = externalUrl ? undefined : await startThrowAwayServer();
  const url = externalUrl ?? server?.url ?? "";
  const template = `emend_template_${randomBytes(6).toString("hex")}`;
  let major: number;
  try {
    major = await createTemplate(url, template);
  } catch (error) {
    await server?.stop();
    throw error;
  }
  project.provide("testServer", { url, template, major });
  return async () => {
    if (server) return server.stop();
    await runOnServer(url, `drop database if exists ${template} with (force)`);
  };
}

/** Returns the major version of Postgres. */
async function createTemplate(url: string, template: string): Promise<number> {
  const log = createLogger({ level: "warn" });
  const server = createPool({ url, connectionsMax: 1, log });
  let major: number;
  try {
    const { rows } = await server.query("select current_setting('server_version_num')::int / 10000 as major");
    major = rows[0].major;
    // template0, because it allows another encoding and collation than the server's default.
    const locale = localeOf(process.env.EMEND_TEST_COLLATION, major);
    await server.query(`create database ${template} template template0 encoding 'UTF8' ${locale}`);
  } finally {
    await server.end();
  }
  const pool = createPool({ url: withDatabaseName(url, template), connectionsMax: 1, log });
  await migrate(pool).finally(() => pool.end());
  return major;
}

/** A collation of the system has an encoding in its name, such as en_US.UTF-8. Others are of ICU. */
function localeOf(collation: string | undefined, major: number): string {
  if (collation === undefined) return "";
  if (!collation.includes(".")) return `locale_provider icu icu_locale '${collation}'`;
  return `${major < 15 ? "" : "locale_provider libc"} locale '${collation}'`;
}
