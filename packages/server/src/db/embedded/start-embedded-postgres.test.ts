// Costly: it is about starting Postgres, and what is left when its owner is killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { appendFile, chown, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import {
  childrenOf,
  type EmbeddedProcess,
  isRunning,
  readPostmasterPid,
  startEmbeddedProcess,
} from "@emend/testkit/embedded-process.ts";
import { makeReachableDir } from "@emend/testkit/reachable-dir.ts";
import { listeningLog } from "@emend/testkit/server.ts";
import pg from "pg";
import { afterAll, afterEach, expect, test } from "vitest";
import { ensureBinaries } from "./binaries.ts";
import type { Supervised } from "./embedded-postgres.ts";
import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import { ensureHome } from "./home.ts";
import { runPostmaster } from "./postmaster.ts";

// All tests share one data folder. Each test stops the server at its end.
const rootDir = await makeReachableDir();
const folders = { dataDir: join(rootDir, "data"), systemDir: join(rootDir, "system") };
const homeDir = join(folders.dataDir, "postgres");
const lockFile = join(homeDir, "cluster", "postmaster.pid");
const log = createLogger({ level: "silent" });

let supervised: Supervised | undefined;
let other: EmbeddedProcess | undefined;
afterEach(async () => {
  if (other?.child.exitCode === null) other.child.kill("SIGKILL");
  await other?.exited;
  // Adopts and stops a server that a failed test left running.
  supervised ??= await startEmbeddedPostgres({ ...folders, log });
  await supervised.stop();
  supervised = undefined;
});
afterAll(() => rm(rootDir, { recursive: true }));

async function query(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client.query(statement).finally(() => client.end());
}

async function startOther(): Promise<{ url: string; pid: number; postmasterPid: number }> {
  other = await startEmbeddedProcess(folders);
  if (!other.said.url) throw new Error(other.said.error);
  return { url: other.said.url, pid: other.pid, postmasterPid: readPostmasterPid(homeDir) };
}

/** Signals the whole process group, like a terminal or a service manager. */
async function killOther(): Promise<void> {
  if (other) process.kill(-other.pid, "SIGKILL");
  await other?.exited;
}

test("makes a cluster, and gives Emend a database that it owns without being a superuser", async () => {
  supervised = await startEmbeddedPostgres({ ...folders, log });
  const { rows } = await query(
    supervised.url,
    `select current_user as role, rolsuper, pg_get_userbyid(datdba) as owner, current_setting('fsync') as fsync,
            current_setting('server_encoding') as encoding
     from pg_roles, pg_database where rolname = current_user and datname = current_database()`,
  );
  expect(rows).toEqual([{ role: "emend", rolsuper: false, owner: "emend", fsync: "on", encoding: "UTF8" }]);
});

test("keeps the socket, the files and the password to their owner", async () => {
  supervised = await startEmbeddedPostgres({ ...folders, log });
  expect(supervised.url).toContain(encodeURIComponent(join(homeDir, "run")));
  const modes = await Promise.all(
    ["", "run", "cluster", "password"].map(async (name) => (await stat(join(homeDir, name))).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
  await expect(query("postgresql://emend@127.0.0.1:5432/emend", "select 1")).rejects.toThrow();
});

test("adopts the postmaster of a killed parent, and stops it in the end", async () => {
  const { url, postmasterPid } = await startOther();
  await killOther();
  expect(isRunning(postmasterPid)).toBe(true);
  supervised = await startEmbeddedPostgres({ ...folders, log });
  expect(readPostmasterPid(homeDir)).toBe(postmasterPid);
  expect(supervised.url).toBe(url);
  expect((await query(supervised.url, "select 1 as one")).rows).toEqual([{ one: 1 }]);
  await supervised.stop();
  expect(existsSync(lockFile)).toBe(false);
  await expect.poll(() => isRunning(postmasterPid)).toBe(false);
});

test("waits while children of a killed postmaster linger, and leaves its lock file to Postgres", async () => {
  const { url, postmasterPid } = await startOther();
  const lingering = new pg.Client({ connectionString: url });
  lingering.on("error", () => {});
  await lingering.connect();
  const { rows } = await lingering.query("select pg_backend_pid() as pid");
  process.kill(rows[0].pid, "SIGSTOP");
  await killOther();
  process.kill(postmasterPid, "SIGKILL");
  const left = await readFile(lockFile, "utf8");
  const listening = listeningLog();
  const waiting = listening.said("waiting until postgres can start");
  const starting = startEmbeddedPostgres({ ...folders, log: listening.log });
  await waiting;
  expect(await readFile(lockFile, "utf8")).toBe(left);
  process.kill(rows[0].pid, "SIGKILL");
  supervised = await starting;
  expect(readPostmasterPid(homeDir)).not.toBe(postmasterPid);
  await lingering.end();
});

test("refuses a data folder that another process serves from, and names the process", async () => {
  const { pid, url } = await startOther();
  await expect(startEmbeddedPostgres({ ...folders, log })).rejects.toThrow(
    new RegExp(`another Emend \\(process ${pid}\\) uses ${folders.dataDir}.*--data`),
  );
  expect((await query(url, "select 1 as one")).rows).toEqual([{ one: 1 }]);
});

/** Some processes of Postgres end by themselves at any time. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

test("keeps every acknowledged row when all processes are killed", async () => {
  const { url, postmasterPid } = await startOther();
  await query(url, "create table kept (n integer)");
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  for (let n = 0; n < 50; n += 1) await client.query("insert into kept values ($1)", [n]);
  for (const pid of [postmasterPid, ...childrenOf(postmasterPid)]) killIfThere(pid);
  await killOther();
  supervised = await startEmbeddedPostgres({ ...folders, log });
  const { rows } = await query(supervised.url, "select count(*)::int as n from kept");
  expect(rows).toEqual([{ n: 50 }]);
});

test("starts Postgres again when it dies while Emend serves, at the same address", async () => {
  const listening = listeningLog();
  supervised = await startEmbeddedPostgres({ ...folders, log: listening.log });
  const restarted = listening.said("started postgres");
  const before = readPostmasterPid(homeDir);
  process.kill(before, "SIGKILL");
  await restarted;
  expect((await query(supervised.url, "select 1 as one")).rows).toEqual([{ one: 1 }]);
  expect(readPostmasterPid(homeDir)).not.toBe(before);
});

test("lets Postgres recover when only a backend dies", async () => {
  const listening = listeningLog();
  supervised = await startEmbeddedPostgres({ ...folders, log: listening.log });
  const back = listening.said("adopted the running postgres");
  const before = readPostmasterPid(homeDir);
  await query(supervised.url, "select pg_backend_pid() as pid, pg_sleep(0)");
  const [victim] = childrenOf(before);
  process.kill(victim ?? 0, "SIGKILL");
  await back;
  expect((await query(supervised.url, "select 1 as one")).rows).toEqual([{ one: 1 }]);
  expect(readPostmasterPid(homeDir)).toBe(before);
});

test("a lock file of a living process is never removed; a timeout error names the process", async () => {
  supervised = await startEmbeddedPostgres({ ...folders, log });
  const left = await readFile(lockFile, "utf8");
  await supervised.stop();
  const home = await ensureHome(folders);
  const { uid, gid } = home.user;
  const sleeper = spawn("sleep", ["60"], home.user.isOther ? { uid, gid } : {});
  const stale = left.replace(/^\d+/, String(sleeper.pid));
  await writeFile(lockFile, stale);
  const waiting = { home, binaries: await ensureBinaries(home), log, hinderedMsMax: 300 };
  await expect(runPostmaster({ ...waiting, signal: AbortSignal.timeout(20_000) })).rejects.toThrow(
    new RegExp(`locked by process ${sleeper.pid}, which does not answer`),
  );
  expect(await readFile(lockFile, "utf8")).toBe(stale);
  sleeper.kill("SIGKILL");
  await once(sleeper, "exit");
  supervised = await startEmbeddedPostgres({ ...folders, log });
});

test("a lock file that names our own parent is a dead postmaster's", async () => {
  supervised = await startEmbeddedPostgres({ ...folders, log });
  const left = await readFile(lockFile, "utf8");
  await supervised.stop();
  await writeFile(lockFile, left.replace(/^\d+/, String(process.ppid)));
  const home = await ensureHome(folders);
  const { uid, gid } = home.user;
  if (home.user.isOther) await chown(lockFile, uid, gid);
  supervised = await startEmbeddedPostgres({ ...folders, log, signal: AbortSignal.timeout(20_000) });
});

test("SIGTERM stops it cleanly, with everything on disk", async () => {
  const { postmasterPid } = await startOther();
  other?.child.kill("SIGTERM");
  expect(await other?.exited).toBe(0);
  await expect.poll(() => isRunning(postmasterPid)).toBe(false);
  expect(existsSync(lockFile)).toBe(false);
  expect(await readFile(join(homeDir, "log"), "utf8")).toMatch(/database system is shut down\n$/);
});

test("a start that is given up leaves no process and no lock", async () => {
  const controller = new AbortController();
  const listening = listeningLog();
  const starting = startEmbeddedPostgres({ ...folders, log: listening.log, signal: controller.signal });
  controller.abort(new Error("given up"));
  await expect(starting).rejects.toThrow();
  expect(existsSync(lockFile)).toBe(false);
  supervised = await startEmbeddedPostgres({ ...folders, log });
});

test("files of another major version are left alone, and named", async () => {
  supervised = await startEmbeddedPostgres({ ...folders, log });
  await supervised.stop();
  const versionFile = join(homeDir, "cluster", "PG_VERSION");
  const version = await readFile(versionFile, "utf8");

  await writeFile(versionFile, "12\n");
  await expect(startEmbeddedPostgres({ ...folders, log })).rejects.toThrow(
    /of Postgres 12, and this Emend brings Postgres 18\. Run the Emend that made them/,
  );
  await writeFile(versionFile, version);
  supervised = undefined;
});

test("an error of Postgres is shown in one line with advice", async () => {
  const settings = join(homeDir, "cluster", "postgresql.conf");
  const before = await readFile(settings, "utf8");
  await appendFile(settings, "\nshared_buffers = nonsense\n");
  const error = await startEmbeddedPostgres({ ...folders, log }).catch((reason: Error) => reason);

  await writeFile(settings, before);
  expect(String(error)).toMatch(/cannot start: .*configuration file.*Set EMEND_DATABASE_URL/);
  expect(String(error)).not.toContain("\n");
});
