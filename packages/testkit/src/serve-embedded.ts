// Runs the embedded database like `emend serve`, as a separate process. Prints its address on standard output, and stops on
// SIGTERM or when the tests end.

import type { Logger } from "@emend/base/logger.ts";
import { startEmbeddedPostgres } from "../../server/src/db/embedded/embedded-postgres.ts";

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
