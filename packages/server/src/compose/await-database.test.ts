import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { freePort } from "@emend/testkit/listen.ts";
import { afterEach, expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { openDatabase } from "../installation/open-database.ts";
import { awaitDatabase } from "./await-database.ts";
import { startServer } from "./compose.ts";

const log = createLogger({ level: "silent" });
const { signal } = new AbortController();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

function open(port: number) {
  const env = {
    EMEND_DATABASE_URL: `postgres://emend@127.0.0.1:${port}/emend`,
    EMEND_SECRET: "a secret of thirty-two characters",
  };
  return openDatabase({ config: loadConfig(env), log, connectionsMax: 2, holder: "server", signal });
}

test("waits for the database with 503, and then leaves the port to the server", async () => {
  const [databasePort, port] = [await freePort(), await freePort()];
  const { promise: back, resolve: comeBack } = Promise.withResolvers<void>();
  let isBack = false;
  void back.then(() => {
    isBack = true;
  });
  const waiting = awaitDatabase({ log, signal, listen: { host: "127.0.0.1", port } }, () =>
    isBack ? Promise.resolve("opened") : open(databasePort).then(() => "opened"),
  );
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).then(({ status }) => status);
  await expect.poll(() => ask("/readyz").catch(() => 0)).toBe(503);
  expect([await ask("/healthz"), await ask("/v2/projects")]).toEqual([200, 503]);
  const { headers } = await fetch(`http://127.0.0.1:${port}/v2/projects`, {
    headers: { "x-request-id": "req-of-mine" },
  });
  expect(headers.get("x-request-id")).toBe("req-of-mine");
  comeBack();
  expect(await waiting).toBe("opened");
  await expect(ask("/healthz")).rejects.toThrow("fetch failed");
});

test("waits with an open port for the address that it listens at", async () => {
  const [database, dataDir] = [await createTestDatabase(), await mkdtemp(join(tmpdir(), "emend-away-"))];
  const [away, port] = [await freePort(), await freePort()];
  const config = loadConfig(
    {
      EMEND_DATABASE_URL: database.url,
      EMEND_DATABASE_LISTEN_URL: `postgres://emend@127.0.0.1:${away}/emend`,
      EMEND_SECRET: "a secret of thirty-two characters",
      EMEND_LOG_LEVEL: "silent",
    },
    { dataDir, port },
  );
  const stopping = new AbortController();
  const starting = startServer(config, { signal: stopping.signal });
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).then(({ status }) => status);
  await expect.poll(() => ask("/healthz").catch(() => 0)).toBe(200);
  expect(await ask("/readyz")).toBe(503);
  stopping.abort();
  await expect(starting).rejects.toThrow("aborted");
  await database.drop();
  await rm(dataDir, { recursive: true });
});

test("names the setting of a database that is away, and stops waiting when told to", async () => {
  await expect(open(await freePort())).rejects.toMatchObject({
    code: "unavailable",
    retryable: true,
    message: expect.stringMatching(/^EMEND_DATABASE_URL .*ECONNREFUSED/),
  });
  const stopping = new AbortController();
  const away = open(await freePort());
  const waiting = awaitDatabase({ log, signal: stopping.signal, listen: null }, () => away);
  stopping.abort();
  await expect(waiting).rejects.toThrow("aborted");
});

test("a login that cannot work is a wrong setting, and leaves no connection open", async () => {
  // Asks for a password (SCRAM), and waits for it as long as Postgres does.
  const ask = (kind: number, words: string) =>
    Buffer.concat([Buffer.from([0x52, 0, 0, 0, 8 + words.length, 0, 0, 0, kind]), Buffer.from(words)]);
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write(ask(10, "SCRAM-SHA-256\0\0"));
      socket.once("data", () => socket.write(ask(11, "r=nonce,s=c2FsdA==,i=4096")));
    });
    socket.on("error", () => {}).on("close", () => closed.resolve());
  });
  const port = await portOf(server);
  await expect(open(port)).rejects.toMatchObject({
    name: "ConfigError",
    message: expect.stringMatching(/EMEND_DATABASE_URL does not work: .*password/),
  });
  await closed.promise;
});
