// The HTTP API as a separate process, on the given database. It prints its port, and exits when its standard input closes.
import type { AddressInfo } from "node:net";
import { createLogger } from "@emend/base/logger.ts";
import { createKeyring } from "../../server/src/accounts/keys/keyring.ts";
import { startListener } from "../../server/src/db/listener.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { buildApp } from "../../server/src/http/app.ts";

const [url = ""] = process.argv.slice(2);
const log = createLogger({ level: "warn" });
const pool = createPool({ url, connectionsMax: 10, log });
const listener = await startListener({ url, log });
const app = buildApp({
  pool,
  listener,
  keyring: createKeyring({ pool, listener, log }),
  log,
  publicUrl: () => "http://emend.test",
  trustProxy: false,
  promptCodePointsMax: 100_000,
  defaultModel: "emend/rules",
});
await app.listen({ port: 0, host: "127.0.0.1" });
console.log(JSON.stringify({ port: (app.server.address() as AddressInfo).port }));
process.stdin.resume().on("end", () => process.exit(0));
