import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentJob, JobRun } from "@emend/contract";
import { type Server, startServer } from "../../server/src/compose/compose.ts";
import { loadConfig, type Role } from "../../server/src/config/config.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { nodeEnvironment } from "./server.ts";
import { programOf } from "./test-programs.ts";

/** A whole installation with its own database and folders. The server runs in this process, or as a process to kill. */
export interface Installation {
  database: TestDatabase;
  forgeDir: string;
  /** Its own folder, removed at the end. */
  dir: string;
  /** As a part of it only, if a role is given. */
  start(options?: { role?: Role; port?: number }): Promise<Server>;
  /** Starts it as a separate process, for a test to kill. */
  spawn(crashAt?: string, role?: Role): ChildProcess;
  /** Runs it as a process that dies at this point. Resolves after its death. */
  runUntilCrash(crashAt: string): Promise<void>;
  /** Creates a folder with these files, to import. */
  makeDocs(files: Readonly<Record<string, string>>): Promise<string>;
  remove(): Promise<void>;
}

export async function createInstallation(environment: Record<string, string>): Promise<Installation> {
  const database = await createTestDatabase();
  const dir = await mkdtemp(join(tmpdir(), "emend-whole-"));
  const env = {
    EMEND_DATABASE_URL: database.url,
    EMEND_SECRET: "the secret of a test, and of nothing else",
    EMEND_DATA_DIR: join(dir, "data"),
    EMEND_FORGE_DIR: join(dir, "forge"),
    EMEND_LOG_LEVEL: "silent",
    NODE_ENV: "test",
    ...environment,
  };
  const servers: Server[] = [];
  let docs = 0;
  const spawnServer = (crashAt?: string, role: Role = "all") =>
    spawn(process.execPath, [programOf(new URL("./server-process.ts", import.meta.url))], {
      env: {
        ...nodeEnvironment,
        ...env,
        EMEND_ROLE: role,
        ...(crashAt !== undefined && { EMEND_CRASH_AT: crashAt }),
      },
      stdio: ["pipe", "ignore", "inherit"],
    });
  return {
    database,
    forgeDir: env.EMEND_FORGE_DIR,
    dir,
    async start(options = {}) {
      const server = await startServer(loadConfig(env, { port: 0, ...options }));
      servers.push(server);
      return server;
    },
    spawn: spawnServer,
    async runUntilCrash(crashAt) {
      const child = spawnServer(crashAt);
      const [code, signal] = await once(child, "exit");
      if (signal !== "SIGKILL") throw new Error(`the server ended otherwise: ${code ?? signal}`);
    },
    async makeDocs(files) {
      docs += 1;
      const folder = join(dir, `docs-${docs}`);
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      }
      return folder;
    },
    async remove() {
      for (const server of servers) await server.stop();
      await database.drop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A client of one project. */
export function clientOf(server: { url: string }, projectId: string, key: string) {
  const base = `${server.url}/v2/agent/${projectId}`;
  async function send(path: string, body?: unknown): Promise<{ status: number; text: string; json: unknown }> {
    const response = await fetch(`${base}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", prefer: "wait=20" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") && text !== "";
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined };
  }
  return {
    send,
    async create(body: { prompt: string; model?: string }): Promise<AgentJob> {
      return (await send("/job", body)).json as AgentJob;
    },
    async untilFinal(id: string): Promise<AgentJob> {
      for (;;) {
        const job = (await send(`/job/${id}`)).json as AgentJob;
        if (job.status !== "active") return job;
      }
    },
    async run(id: string): Promise<JobRun> {
      return (await send(`/job/${id}/run`)).json as JobRun;
    },
  };
}
