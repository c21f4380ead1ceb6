import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import type { Config } from "../config/config.ts";
import { startListener } from "../db/listener.ts";
import { createPool } from "../db/pool.ts";
import { rethrowNaming } from "../installation/open-database.ts";
import { tryFolder } from "../lib/disk.ts";

/** A setting that names a folder or a database. `problem`: null if it works. */
interface PlaceTrial {
  name: string;
  problem: string | null;
}

const log = createLogger({ level: "silent" });

/** Why files cannot be written to a folder, or to the nearest parent of one that does not exist. */
export function tryFolderOf(path: string): Promise<string | null> {
  const parent = dirname(path);
  return existsSync(path) || parent === path ? tryFolder(path) : tryFolderOf(parent);
}

/** Tries what the other databases of the settings are for: notices, and reads. */
export async function tryDatabases(config: Config): Promise<readonly PlaceTrial[]> {
  const { databaseUrl: url, databaseListenUrl: listenUrl, databaseReadUrl: readUrl } = config;
  const trials: PlaceTrial[] = [];
  if (url !== null) {
    const variable = listenUrl === null ? "EMEND_DATABASE_URL" : "EMEND_DATABASE_LISTEN_URL";
    const hears = startListener({ url, listenUrl, log }).then((listener) => listener.close());
    trials.push({ name: "notices", problem: await whyNot(hears.catch(rethrowNaming(variable))) });
  }
  if (readUrl !== null) {
    const pool = createPool({ url: readUrl, connectionsMax: 1, log });
    const reads = pool.query("select 1").catch(rethrowNaming("EMEND_DATABASE_READ_URL"));
    trials.push({ name: "replica", problem: await whyNot(reads) });
    await pool.end();
  }
  return trials;
}

function whyNot(trial: Promise<unknown>): Promise<string | null> {
  return trial.then(
    () => null,
    (error: Error) => error.message,
  );
}
