// Costly: it is about starting Postgres beside other commands.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createLogger } from "@emend/base/logger.ts";
import { type EmbeddedProcess, readPostmasterPid, startEmbeddedProcess } from "@emend/testkit/embedded-process.ts";
import { makeReachableDir } from "@emend/testkit/reachable-dir.ts";
import { listeningLog } from "@emend/testkit/server.ts";
import pg from "pg";
import { afterAll, afterEach, expect, test } from "vitest";
import { ensureBinaries } from "./binaries.ts";
import { startEmbeddedPostgres, supervise, useEmbeddedPostgres } from "./embedded-postgres.ts";
import { ensureHome, tryLock } from "./home.ts";
import { readPassword } from "./init-cluster.ts";
import { runPostmaster, stopPostmaster } from "./postmaster.ts";

const log = createLogger({ level: "silent" });
const rootDir = await makeReachableDir();
// The path is too long for a socket, so commands connect by port and password.
const dataDir = join(rootDir, "deep/".repeat(20), "data");
await mkdir(join(dataDir, ".."), { recursive: true });
const options = { dataDir, systemDir: join(rootDir, "system"), log };
const homeDir = join(dataDir, "postgres");
const lockFile = join(homeDir, "cluster", "postmaster.pid");

let other: EmbeddedProcess | undefined;
afterEach(async () => {
  other?.child.kill("SIGKILL");
  await other?.exited;
  await (await useEmbeddedPostgres(options)).close();
});
afterAll(() => rm(rootDir, { recursive: true }));

async function ask(url: string, statement = "select 1 as one"): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

test("starts Postgres for one command, and stops it with the command", async () => {
  const postgres = await useEmbeddedPostgres(options);
  expect(await ask(postgres.url)).toEqual([{ one: 1 }]);
  await postgres.close();
  expect(existsSync(lockFile)).toBe(false);
});

test("where a socket's path would be too long, listens on loopback alone and asks for the password", async () => {
  const postgres = await useEmbeddedPostgres(options);
  const { hostname, password, port } = new URL(postgres.url);
  expect(hostname).toBe("127.0.0.1");
  expect((await stat(join(homeDir, "password"))).mode & 0o777).toBe(0o600);
  const wrong = postgres.url.replace(password, "wrong");
  await expect(ask(wrong)).rejects.toMatchObject({ code: "28P01" });
  await expect(ask(`postgresql://postgres:wrong@127.0.0.1:${port}/postgres`)).rejects.toMatchObject({ code: "28P01" });
  const verifier = await ask(postgres.url, "select current_setting('password_encryption') as kind");
  expect(verifier).toEqual([{ kind: "scram-sha-256" }]);
  await postgres.close();
});

test("uses the Postgres of an Emend that serves, and leaves it running", async () => {
  other = await startEmbeddedProcess(options);
  const postgres = await useEmbeddedPostgres(options);
  expect(postgres.url).toBe(other.said.url);
  expect(await ask(postgres.url)).toEqual([{ one: 1 }]);
  await postgres.close();
  expect(await ask(postgres.url)).toEqual([{ one: 1 }]);
});

test("after a killed server, adopts what it left, and ends it with the command", async () => {
  other = await startEmbeddedProcess(options);
  const postmasterPid = readPostmasterPid(homeDir);
  other.child.kill("SIGKILL");
  await other.exited;
  const postgres = await useEmbeddedPostgres(options);
  expect(readPostmasterPid(homeDir)).toBe(postmasterPid);
  expect(await ask(postgres.url)).toEqual([{ one: 1 }]);
  await postgres.close();
  expect(existsSync(lockFile)).toBe(false);
});

test("commands that come together take turns, and so does a server that starts meanwhile", async () => {
  const useOnce = async () => {
    const postgres = await useEmbeddedPostgres(options);
    return ask(postgres.url).finally(postgres.close);
  };
  const serving = startEmbeddedPostgres(options);
  expect(await Promise.all([useOnce(), useOnce(), useOnce()])).toEqual([1, 2, 3].map(() => [{ one: 1 }]));
  const served = await serving;
  expect(await ask(served.url).finally(served.stop)).toEqual([{ one: 1 }]);
});

test("a command that starts while a server stops waits, and starts its own Postgres", async () => {
  const home = await ensureHome(options);
  const lock = await tryLock(home, "server");
  if (lock.kind !== "held") throw new Error("not held");
  const stopping = await supervise({ home, lock, log, signal: AbortSignal.timeout(30_000) });
  lock.announceStop();
  const borrowing = useEmbeddedPostgres(options);
  // No event to await: it must not take over a server that still answers.
  await setTimeout(300);
  await stopping.stop();
  const postgres = await borrowing;
  expect(await ask(postgres.url)).toEqual([{ one: 1 }]);
  await postgres.close();
});

test("on loopback too, Postgres comes back at the same address", async () => {
  const postgres = await useEmbeddedPostgres(options);
  const before = readPostmasterPid(homeDir);
  process.kill(before, "SIGKILL");
  await expect.poll(() => ask(postgres.url).catch(() => [])).toEqual([{ one: 1 }]);
  expect(readPostmasterPid(homeDir)).not.toBe(before);
  await postgres.close();
});

test("a port that somebody else has is waited for", async () => {
  const home = await ensureHome(options);
  const somebody = createServer().listen(0, "127.0.0.1");
  await once(somebody, "listening");
  const { port } = somebody.address() as AddressInfo;
  const listening = listeningLog();
  const starting = runPostmaster({
    home,
    binaries: await ensureBinaries(home),
    endpoint: { kind: "loopback", port, password: await readPassword(home.dir) },
    log: listening.log,
    signal: AbortSignal.timeout(20_000),
  });
  await listening.said("waiting until postgres can start");
  somebody.close();
  const { sentinel, pid } = await starting;
  await sentinel.client.end();
  await stopPostmaster(home.dir, pid);
});
