import { type ChildProcess, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseEnv } from "node:util";
import { createLogger } from "@emend/base/logger.ts";
import { listProcesses } from "@emend/testkit/processes.ts";
import { chownTo, isAlive, type RunUser } from "../../server/src/db/embedded/run-tool.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { type Machine, openNetwork } from "./machines.ts";

/** Three Postgres under Patroni, with HAProxy and PgBouncer in front, from the files of deploy/cluster. */
export interface DatabaseCluster {
  /** The database's addresses in the settings of Emend's nodes. */
  env: Record<string, string>;
  /** The primary's address, without PgBouncer. */
  primaryUrl: string;
  /** Whether a server can be cut off from the network. */
  hasNamespaces: boolean;
  /** The node that is now `leader` or `sync_standby`. */
  findRole(role: "leader" | "sync_standby"): Promise<DatabaseNode>;
  /** Waits until a primary has a synchronous standby, and a third server follows it. */
  untilWhole(): Promise<void>;
  /** Waits until another node than this one is the primary. */
  untilPrimaryBut(node: DatabaseNode): Promise<void>;
  stop(): void;
}

export interface DatabaseNode {
  machine: Machine;
  /** Its etcd, Patroni and Postgres. */
  processes(): readonly number[];
  postmaster(): number;
  start(): void;
  /** Deletes what its Postgres has stored. */
  loseData(): Promise<void>;
}

interface Member {
  name: string;
  role: string;
  state: string;
}

const samplesDir = new URL("../../../deploy/cluster/", import.meta.url);
const installed = "/usr/lib/postgresql";
const pgbouncerProgram = process.env.PGBOUNCER ?? "pgbouncer";
const names = ["db1", "db2", "db3"] as const;
const password = "change-me";
const waitMsMax = 5 * 60_000;
const answerMsMax = 2_000;

export async function startDatabaseCluster(dir: string, user: RunUser): Promise<DatabaseCluster> {
  const postgresDir = findPrograms();
  const network = openNetwork(user);
  const { prefix, here } = network;
  const samples = { dir, prefix };
  const nodes = new Map<string, DatabaseNode>();
  for (const [index, name] of names.entries()) {
    const machine = await network.addMachine(name, 11 + index);
    nodes.set(name, await addNode(samples, { machine, host: 11 + index, postgresDir, user }));
  }
  const all = [...nodes.values()];
  for (const node of all) node.start();
  const proxies: ChildProcess[] = [];

  async function members(): Promise<readonly Member[]> {
    const seen = await Promise.all(all.map(({ machine }) => ask<{ members: Member[] }>(machine, "/cluster")));
    return seen.find((one) => one !== null)?.members ?? [];
  }

  async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
    const deadline = performance.now() + waitMsMax;
    for (;;) {
      const found = await look();
      if (found !== null) return found;
      if (performance.now() > deadline)
        throw new Error(`${what}: not within ${waitMsMax / 1000} s: ${JSON.stringify(await members())}`);
      await pause(100);
    }
  }

  const cluster: DatabaseCluster = {
    env: {},
    primaryUrl: `postgresql://emend:${password}@${here.address}:5000/emend`,
    hasNamespaces: all.every(({ machine }) => machine.cable !== null),
    findRole: (role) =>
      until(`no ${role}`, async () => {
        const found = (await members()).find((one) => one.role === role);
        return nodes.get(found?.name ?? "") ?? null;
      }),
    async untilWhole() {
      await until("the cluster is not whole", async () => {
        const now = await members();
        const isWhole = now.length === names.length && now.every(({ state }) => /^(running|streaming)$/.test(state));
        return (isWhole && now.some(({ role }) => role === "sync_standby")) || null;
      });
    },
    async untilPrimaryBut(node) {
      const others = all.filter((one) => one !== node);
      await until("there is no new primary", async () => {
        const isPrimary = await Promise.all(others.map(({ machine }) => ask(machine, "/primary")));
        return isPrimary.some((one) => one !== null) || null;
      });
    },
    stop() {
      for (const proxy of proxies) proxy.kill("SIGKILL");
      for (const pid of all.flatMap((node) => node.processes())) {
        // Postgres ends its own processes once the first one is killed.
        if (isAlive(pid)) process.kill(pid, "SIGKILL");
      }
    },
  };
  try {
    await cluster.untilWhole();
    const { machine } = await cluster.findRole("leader");
    await createDatabase(machine.address);
    const haproxy = await copySample(samples, "haproxy.cfg", dir);
    proxies.push(here.start("haproxy", ["-db", "-f", haproxy], join(dir, "haproxy.log")));
    const users = join(dir, "userlist.txt");
    await writeFile(users, `"emend" "${password}"\n`);
    const pgbouncer = await copySample(samples, "pgbouncer.ini", dir, { "/etc/pgbouncer/userlist.txt": users });
    proxies.push(here.start(pgbouncerProgram, [pgbouncer], join(dir, "pgbouncer.log")));
    const env = parseEnv(await readFile(await copySample(samples, "emend.env", dir), "utf8"));
    return { ...cluster, env: env as Record<string, string> };
  } catch (error) {
    cluster.stop();
    throw error;
  }
}

/** A sample, used as it is except for folders, and without namespaces for the network. */
async function copySample(
  to: { prefix: string },
  name: string,
  dir: string,
  places: Readonly<Record<string, string>> = {},
  edit = (text: string) => text,
): Promise<string> {
  const sample = edit(await readFile(new URL(name, samplesDir), "utf8"));
  const text = Object.entries(places).reduce((so, [from, its]) => so.replaceAll(from, its), sample);
  const path = join(dir, name);
  await writeFile(path, text.replaceAll("10.0.0.", to.prefix));
  return path;
}

async function addNode(
  samples: { dir: string; prefix: string },
  { machine, host, postgresDir, user }: { machine: Machine; host: number; postgresDir: string; user: RunUser },
): Promise<DatabaseNode> {
  const own = join(samples.dir, machine.name);
  await mkdir(own);
  await chownTo(user, own);
  const data = join(own, "data");
  // A line that names all three servers stays.
  const asNode = (text: string) =>
    text
      .replace(/^(?!.*10\.0\.0\.12).*$/gm, (line) => line.replaceAll("10.0.0.11", `10.0.0.${host}`))
      .replace(/^name: db1$/m, `name: ${machine.name}`);
  const etcdPlaces = { "/var/lib/etcd/emend": join(own, "etcd") };
  const etcdFile = await copySample(samples, "etcd.yml", own, etcdPlaces, asNode);
  const places = {
    "/var/lib/postgresql/emend.pgpass": join(own, "pgpass"),
    "/var/lib/postgresql/emend": data,
    "/var/run/postgresql": own,
    "/usr/lib/postgresql/15/bin": postgresDir,
  };
  const patroniFile = await copySample(samples, "patroni.yml", own, places, asNode);
  let started: readonly ChildProcess[] = [];
  const postmaster = () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  return {
    machine,
    start() {
      started = [
        machine.start("etcd", ["--config-file", etcdFile], join(own, "etcd.log")),
        machine.start("patroni", [patroniFile], join(own, "patroni.log")),
      ];
    },
    postmaster,
    processes() {
      const all = listProcesses().filter(({ state }) => state !== "Z");
      const parents = new Set(started.map(({ pid }) => pid));
      // Patroni starts Postgres, which outlives it. Parents stand before their children.
      const isPostgres = (command: string) =>
        command.startsWith(join(postgresDir, "postgres")) && command.includes(data);
      for (const { pid, parent, command } of all.sort((left, right) => left.pid - right.pid))
        if (parents.has(parent) || isPostgres(command)) parents.add(pid);
      return all.filter(({ pid }) => parents.has(pid)).map(({ pid }) => pid);
    },
    loseData: () => rm(data, { recursive: true, force: true }),
  };
}

async function createDatabase(address: string): Promise<void> {
  const url = `postgresql://postgres:${password}@${address}:5432/postgres`;
  const pool = createPool({ url, connectionsMax: 1, log: createLogger({ level: "silent" }) });
  try {
    await pool.query(`create role emend login password '${password}'`);
    await pool.query("create database emend owner emend");
  } finally {
    await pool.end();
  }
}

/** What Patroni answers with 200, or null. */
async function ask<T>({ address }: Machine, path: string): Promise<T | null> {
  const signal = AbortSignal.timeout(answerMsMax);
  const response = await fetch(`http://${address}:8008${path}`, { signal }).catch(() => null);
  return response?.ok ? ((await response.json().catch(() => null)) as T | null) : null;
}

/** Where Postgres is, or what is missing. */
function findPrograms(): string {
  const path = `${process.env.PATH}:/usr/sbin`;
  const ask = (program: string) => spawnSync(program, ["--version"], { env: { PATH: path }, encoding: "utf8" });
  const missing = ["etcd", "patroni", "haproxy", pgbouncerProgram].filter((program) => ask(program).error);
  const versions = readdirSync(installed, { withFileTypes: true }).map(({ name }) => Number(name));
  if (missing.length > 0 || versions.length === 0)
    throw new Error(
      `not installed: ${missing.join(", ") || "Postgres"}. On Debian: apt-get install patroni etcd-server haproxy pgbouncer postgresql`,
    );
  const [, version = "", major = "", minor = ""] =
    /PgBouncer ((\d+)\.(\d+)\S*)/.exec(ask(pgbouncerProgram).stdout) ?? [];
  if (Number(major) === 1 && Number(minor) < 21)
    throw new Error(
      `PgBouncer ${version} is too old: 1.21 keeps prepared statements in transaction mode. Name a newer one in PGBOUNCER.`,
    );
  return join(installed, String(Math.max(...versions)), "bin");
}
