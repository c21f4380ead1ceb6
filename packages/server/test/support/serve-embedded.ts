// What `emend serve` does with its database, as a process of its own: started, told of on standard output, stopped on
// SIGTERM or with the tests.
import { startEmbeddedPostgres } from "../../src/db/embedded/start-embedded-postgres.ts";
import type { Logger } from "../../src/lib/logger.ts";

const [dataDir = "", systemDir = ""] = process.argv.slice(2);
const silent = () => {};
const log = { info: silent, warn: silent, error: silent } as unknown as Logger;

try {
  const postgres = await startEmbeddedPostgres({ dataDir, log, ...(systemDir ? { systemDir } : {}) });
  const end = () => postgres.stop().then(() => process.exit(0));
  process.on("SIGTERM", end);
  process.stdin.resume().on("end", end);
  console.log(JSON.stringify({ url: postgres.url }));
} catch (error) {
  console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
  process.exitCode = 1;
}
