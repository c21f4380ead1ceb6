// The whole server as a process of its own, which tells its parent every route that it has: nothing can be left out.
import { subscribe } from "node:diagnostics_channel";
import type { FastifyInstance } from "fastify";
import { startServer } from "../src/compose/compose.ts";
import { loadConfig } from "../src/config/config.ts";

const routes = new Set<string>();
subscribe("fastify.initialization", (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) if (one !== "HEAD" && one !== "OPTIONS") routes.add(`${one} ${url}`);
  });
});

const server = await startServer(loadConfig(process.env, { port: 0 }));
console.log(JSON.stringify({ event: "ready", url: server.url, routes: [...routes].sort() }));
process.on("SIGTERM", () => void server.stop().then(() => process.exit(0)));
// Its parent is gone: nobody would ever stop it.
process.stdin.resume().once("end", () => process.exit(1));
process.stdin.unref();
