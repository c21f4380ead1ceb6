// The whole server as a process of its own: something to kill.
import { startServer } from "../../src/compose/compose.ts";
import { loadConfig } from "../../src/config/config.ts";

const server = await startServer(loadConfig(process.env, { port: 0 }));
console.log(JSON.stringify({ event: "ready", url: server.url }));
// Its parent is gone: nobody would ever stop it.
process.stdin.resume().once("end", () => process.exit(1));
process.stdin.unref();
