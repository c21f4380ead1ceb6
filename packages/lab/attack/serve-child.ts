// A complete server in its own process, which reports all its routes to its parent, so that none is left out.
import { subscribe } from "node:diagnostics_channel";
import type { FastifyInstance } from "fastify";
import { startServer } from "../../server/src/compose/compose.ts";
import { loadConfig } from "../../server/src/config/config.ts";

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
// The parent has exited, so nobody else would stop this process.
process.stdin.resume().once("end", () => process.exit(1));
process.stdin.unref();
