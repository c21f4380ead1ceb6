// The whole server as a separate process, which tests kill.
import { startServer } from "../../server/src/compose/compose.ts";
import { loadConfig } from "../../server/src/config/config.ts";

const server = await startServer(loadConfig(process.env, { port: Number(process.env.EMEND_PORT ?? 0) }));
console.log(JSON.stringify({ event: "ready", url: server.url }));
// The parent has died, so no other process would stop this one.
process.stdin.resume().once("end", () => process.exit(1));
process.stdin.unref();
