import { rm } from "node:fs/promises";
import { createLogger } from "@emend/base/logger.ts";
import { makeReachableDir } from "@emend/testkit/reachable-dir.ts";
import { createKey } from "../../server/src/accounts/keys/api-keys.ts";
import { addProject } from "../../server/src/accounts/projects/save-project.ts";
import { createSealer } from "../../server/src/accounts/secrets.ts";
import { startEmbeddedPostgres } from "../../server/src/db/embedded/embedded-postgres.ts";
import { migrate } from "../../server/src/db/migrate.ts";
import { createPool, type Pool } from "../../server/src/db/pool.ts";

export interface BenchDatabase {
  url: string;
  pool: Pool;
  close(): Promise<void>;
}

/** The embedded default with its production settings, fsync included, in its own folder. */
export async function startBenchDatabase(level: "warn" | "silent" = "warn"): Promise<BenchDatabase> {
  const log = createLogger({ level });
  const dataDir = await makeReachableDir();
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  const pool = createPool({ url: postgres.url, connectionsMax: 10, log });
  await migrate(pool);
  return {
    url: postgres.url,
    pool,
    async close() {
      await pool.end();
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Projects without a quota, and a key for all of them. */
export async function seedProjects(pool: Pool, count: number): Promise<{ projectIds: string[]; key: string }> {
  const deps = { db: pool, sealer: createSealer("only for the length of a bench") };
  const projectIds: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const project = await addProject(deps, {
      name: `docs ${n}`,
      forge: "github",
      repositoryUrl: "https://github.test/acme/docs",
      settings: { createsPerHourMax: 1_000_000 },
    });
    projectIds.push(project.id);
  }
  const outcome = await createKey(pool, {
    name: "bench",
    projectIds,
    scope: "write",
    expiresInMs: null,
    allowList: null,
    createdBy: "console",
  });
  if (outcome.kind !== "created") throw new Error(outcome.kind);
  return { projectIds, key: outcome.key };
}
