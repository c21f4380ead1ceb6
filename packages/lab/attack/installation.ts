import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findProcess, hasProc } from "@emend/testkit/processes.ts";
import { startThrowAwayServer } from "@emend/testkit/throw-away-server.ts";
import pg from "pg";
import { openAdmin } from "../../server/src/admin/open-admin.ts";
import { loadConfig } from "../../server/src/config/config.ts";
import type { Caller } from "./matrix.ts";

/** Secret texts that no response, log or row may ever contain. */
interface Canaries {
  environment: string;
  file: string;
  vendorKey: string;
  secret: string;
  forgeToken: string;
}

export interface Installation {
  url: string;
  dir: string;
  routes: readonly string[];
  projectId: string;
  keys: Readonly<Record<Caller, string | null>>;
  canaries: Canaries;
  pool: pg.Pool;
  /** Imports these files as another project, with a key that may write. */
  addProject(
    name: string,
    files: Readonly<Record<string, string>>,
    settings: Record<string, unknown>,
  ): Promise<{ projectId: string; key: string }>;
  /** Its log so far. */
  log(): string;
  rssBytes(): number;
  /** The CPU time of the main thread so far; 0 where processes are not files. */
  mainThreadMs(): number;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL("./serve-child.ts", import.meta.url));

/** A complete server in its own process and database, with a project, keys of every kind and canaries. */
export async function startInstallation(
  databaseUrl?: string,
  environment: Record<string, string> = {},
): Promise<Installation> {
  const postgres =
    databaseUrl === undefined ? await startThrowAwayServer() : { url: databaseUrl, stop: () => Promise.resolve() };
  const dir = await mkdtemp(join(tmpdir(), "emend-attack-"));
  const canary = (name: string) => `canary-${name}-7f3a9d52c1e84b06`;
  const canaries: Canaries = {
    environment: canary("environment"),
    file: canary("file"),
    vendorKey: `sk-${canary("vendor")}`,
    secret: `${canary("secret")}-of-this-installation`,
    forgeToken: canary("token"),
  };
  const env = {
    EMEND_DATABASE_URL: postgres.url,
    EMEND_SECRET: canaries.secret,
    EMEND_DATA_DIR: join(dir, "data"),
    EMEND_FORGE_DIR: join(dir, "forge"),
    // Its routes exist, and nobody answers there.
    EMEND_SAML_METADATA_URL: "http://127.0.0.1:1/metadata",
  };
  await mkdir(join(dir, "docs"));
  await writeFile(join(dir, "docs", "index.md"), "# Docs\n\nAn API token opens the door.\n");
  await writeFile(join(dir, "outside.txt"), canaries.file);
  const { projectId, keys } = await seed(env, dir, canaries);
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
    env: {
      PATH: process.env.PATH ?? "",
      ...env,
      EMEND_LOG_LEVEL: "debug",
      CANARY: canaries.environment,
      ANTHROPIC_API_KEY: canaries.vendorKey,
      ...environment,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const { url, routes, log } = await ready(child);
  const pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
  return {
    url,
    dir,
    routes,
    projectId,
    keys,
    canaries,
    pool,
    async addProject(name, files, settings) {
      const repo = await mkdtemp(join(dir, "project-"));
      for (const [path, text] of Object.entries(files)) await writeFile(join(repo, path), text);
      const admin = await openAdmin(loadConfig({ ...env, ...environment }));
      try {
        const { id } = await admin.addProject({ name, forge: "local", repo, settings });
        const { key } = await admin.createKey({ projectIds: [id], name: "write", scope: "write" });
        return { projectId: id, key };
      } finally {
        await admin.close();
      }
    },
    log,
    rssBytes: () => findProcess(child.pid ?? 0)?.rssBytes ?? 0,
    mainThreadMs() {
      if (!hasProc()) return 0;
      const [, rest = ""] = readFileSync(`/proc/${child.pid}/task/${child.pid}/stat`, "utf8").split(") ");
      const fields = rest.split(" ");
      // In hundredths of a second: user and system.
      return 10 * (Number(fields[11]) + Number(fields[12]));
    },
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      await pool.end();
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function seed(env: Record<string, string>, dir: string, canaries: Canaries) {
  const admin = await openAdmin(loadConfig(env));
  try {
    const settings = { createsPerHourMax: 50 };
    const project = await admin.addProject({ name: "Docs", forge: "local", repo: join(dir, "docs"), settings });
    const other = await admin.addProject({ name: "Other", forge: "local", repo: join(dir, "docs") });
    const key = async (projectId: string, scope: "read" | "write") =>
      await admin.createKey({ projectIds: [projectId], name: scope, scope });
    const [read, write, foreign, revoked, expired] = [
      await key(project.id, "read"),
      await key(project.id, "write"),
      await key(other.id, "write"),
      await key(project.id, "write"),
      await key(project.id, "write"),
    ];
    await admin.revokeKey(revoked.id);
    const pool = new pg.Pool({ connectionString: env.EMEND_DATABASE_URL, max: 1 });
    await pool.query("update admin_keys set expires_at = clock_timestamp() - interval '1 hour' where id = $1", [
      expired.id,
    ]);
    // Encrypted with another installation's secret: it is never decrypted here, and must not be shown.
    await pool.query("update projects set credential = $2 where id = $1", [other.id, Buffer.from(canaries.forgeToken)]);
    await pool.end();
    const keys: Record<Caller, string | null> = {
      nobody: null,
      "no such key": read.key.replace(/.{8}$/, "00000000"),
      "revoked key": revoked.key,
      "expired key": expired.key,
      "foreign key": foreign.key,
      "read key": read.key,
      "write key": write.key,
    };
    return { projectId: project.id, keys };
  } finally {
    await admin.close();
  }
}

async function ready(child: ChildProcess): Promise<{ url: string; routes: readonly string[]; log(): string }> {
  const lines: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<{ url: string; routes: readonly string[] }>();
  child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${lines.slice(-5).join("\n")}`)));
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      if (line.startsWith('{"event":"ready"')) resolve(JSON.parse(line));
      else lines.push(line);
    });
  }
  return { ...(await promise), log: () => lines.join("\n") };
}

export async function latency(host: Installation): Promise<number> {
  const startedAt = performance.now();
  await fetch(`${host.url}/healthz`);
  return Math.round(performance.now() - startedAt);
}

export function openSocket(
  host: Installation,
  head: string,
  body: Buffer | null,
): { socket: Socket; bytes(): number; start(): string } {
  const { hostname, port } = new URL(host.url);
  const socket = connect(Number(port), hostname);
  let start = "";
  let bytes = 0;
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (start.length < 1_000) start += chunk.toString("latin1");
  });
  socket.write(head);
  if (body) socket.write(body);
  return { socket, bytes: () => bytes, start: () => start };
}

export function cloneOf(host: Installation, name: string): string {
  const url = new URL(`${host.url}/git/${host.projectId}.git`);
  url.username = "attack";
  url.password = host.keys["write key"] ?? "";
  mkdirSync(join(host.dir, "work"), { recursive: true });
  const work = join(host.dir, "work", name);
  git(host.dir, "clone", "--quiet", url.href, work);
  writeFileSync(join(work, `${name}.md`), "x\n");
  return work;
}

export function git(cwd: string, ...given: (string | readonly string[])[]): string {
  const isWithInput = Array.isArray(given[0]);
  const args = isWithInput ? (given[0] as string[]) : (given as string[]);
  const result = spawnSync("git", args, {
    cwd,
    encoding: "utf8",
    ...(isWithInput && given[1] && { input: String(given[1]) }),
  });
  assert(result.status === 0, `git ${args[0]}: ${result.stderr}`);
  return result.stdout;
}

export function assert(holds: boolean, words: string): asserts holds {
  if (!holds) throw new Error(words);
}
