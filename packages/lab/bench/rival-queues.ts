import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createLogger } from "@emend/base/logger.ts";
import { scriptedStages } from "@emend/testkit/scripted-stages.ts";
import { startListener } from "../../server/src/db/listener.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { createAnnounceDue } from "../../server/src/jobs/announce.ts";
import { createJob } from "../../server/src/jobs/create-job.ts";
import { startWorker } from "../../server/src/run/worker.ts";

/** Installed when the bench runs, into a folder of its own: no lock file of ours knows them. */
export const rivalPackages: Readonly<Record<string, string>> = {
  "graphile-worker": "0.17.3",
  "pg-boss": "10.4.2",
  bullmq: "6.7.0",
  ioredis: "6.0.0",
  "@dbos-inc/dbos-sdk": "5.3.0",
};
const folder = fileURLToPath(new URL("../../../node_modules/.cache/rivals/", import.meta.url));

export async function installRivals(): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: rivalPackages }));
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: folder });
}

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed while this is compiled
async function load(name: string): Promise<any> {
  const path = createRequire(join(folder, "package.json")).resolve(name);
  return import(pathToFileURL(path).href);
}

export interface Places {
  postgres: string;
  redisPort: number;
  /** Of Emend. */
  projectId: string;
}

export interface Queue {
  enqueue(id: string, ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface Handler {
  started(id: string): void;
  /** Something that leaves the machine, done at the end of a job. */
  effect(id: string): void;
}

export interface System {
  open(places: Places): Promise<Queue>;
  /** Takes jobs for as long as its process lives. */
  work(places: Places, handler: Handler): Promise<void>;
}

type Payload = { id: string; ms: number };

async function handle(handler: Handler, { id, ms }: Payload): Promise<void> {
  handler.started(id);
  await pause(ms);
  handler.effect(id);
}

/** Each as its own documentation begins, with nothing set but where its database is and ten jobs at a time. */
export const systems: Readonly<Record<string, System>> = {
  Emend: {
    async open({ postgres, projectId }) {
      const log = createLogger({ level: "silent" });
      const pool = createPool({ url: postgres, connectionsMax: 2, log });
      const announceDue = createAnnounceDue({ db: pool, log });
      const quota = { usesMax: 1_000_000, windowMs: 3_600_000 };
      const rules = { repositoryUrl: "http://x", branchPrefix: "emend", model: "emend/rules", costUsdMax: 1, quota };
      const empty = { baseRef: null, model: null, draft: null, maxCostUsd: null, idempotencyKey: null };
      return {
        async enqueue(id, ms) {
          const prompt = JSON.stringify({ id, ms });
          await createJob({ db: pool, announceDue }, rules, {
            ...empty,
            projectId,
            prompt,
            kept: prompt,
            createdBy: "bench",
          });
        },
        close: () => pool.end(),
      };
    },
    async work({ postgres }, handler) {
      const log = createLogger({ level: "silent" });
      const pool = createPool({ url: postgres, connectionsMax: 4, log });
      const listener = await startListener({ url: postgres, log });
      const crashPoint = () => {};
      const scripted = scriptedStages({ pool, worker: String(process.pid), crashPoint });
      const stages: typeof scripted = {
        ...scripted,
        async runAgent(job, work, signal) {
          const { id, ms }: Payload = JSON.parse(job.prompt);
          handler.started(id);
          await pause(ms, undefined, { signal });
          return scripted.runAgent(job, work, signal);
        },
        async publish(job, work, signal) {
          await work.recorder.renewForEffect();
          handler.effect(JSON.parse(job.prompt).id);
          return scripted.publish(job, work, signal);
        },
      };
      startWorker({ pool, databaseUrl: postgres, listener, log, stages, crashPoint }, { concurrency: 10, lanes: 10 });
    },
  },
  "graphile-worker": {
    async open({ postgres }) {
      const { makeWorkerUtils, Logger } = await load("graphile-worker");
      const utils = await makeWorkerUtils({ connectionString: postgres, logger: new Logger(() => () => {}) });
      await utils.migrate();
      return { enqueue: (id, ms) => utils.addJob("job", { id, ms }), close: () => utils.release() };
    },
    async work({ postgres }, handler) {
      const { run, Logger } = await load("graphile-worker");
      const taskList = { job: (payload: Payload) => handle(handler, payload) };
      await run({ connectionString: postgres, concurrency: 10, taskList, logger: new Logger(() => () => {}) });
    },
  },
  "pg-boss": {
    async open({ postgres }) {
      const boss = new (await load("pg-boss")).default(postgres);
      boss.on("error", () => {});
      await boss.start();
      await boss.createQueue("job");
      return { enqueue: (id, ms) => boss.send("job", { id, ms }), close: () => boss.stop({ graceful: false }) };
    },
    async work({ postgres }, handler) {
      const boss = new (await load("pg-boss")).default(postgres);
      boss.on("error", () => {});
      await boss.start();
      await boss.createQueue("job");
      await boss.work("job", ([job]: { data: Payload }[]) => job && handle(handler, job.data));
    },
  },
  BullMQ: {
    async open({ redisPort }) {
      const queue = new (await load("bullmq")).Queue("job", { connection: { port: redisPort } });
      return { enqueue: (id, ms) => queue.add("job", { id, ms }), close: () => queue.close() };
    },
    async work({ redisPort }, handler) {
      const { Worker } = await load("bullmq");
      const work = (job: { data: Payload }) => handle(handler, job.data);
      await new Worker("job", work, { connection: { port: redisPort }, concurrency: 10 }).waitUntilReady();
    },
  },
  DBOS: {
    async open({ postgres }) {
      const { DBOSClient } = await load("@dbos-inc/dbos-sdk");
      const client = await DBOSClient.create({ systemDatabaseUrl: postgres });
      const options = { workflowName: "job", queueName: "jobs" };
      return { enqueue: (id, ms) => client.enqueue(options, { id, ms }), close: () => client.destroy() };
    },
    async work({ postgres }, handler) {
      const { DBOS } = await load("@dbos-inc/dbos-sdk");
      DBOS.setConfig({ name: "bench", systemDatabaseUrl: postgres, logLevel: "error", applicationVersion: "1" });
      const step = async (payload: Payload) => handle(handler, payload);
      DBOS.registerWorkflow(async (payload: Payload) => DBOS.runStep(() => step(payload), { name: "step" }), {
        name: "job",
      });
      await DBOS.launch();
      await DBOS.registerQueue("jobs");
    },
  },
};

/** As Debian ships it, with its own defaults, in memory. */
export async function startRedis(port: number): Promise<{ stop(): Promise<void> }> {
  const server = spawn("redis-server", ["--port", String(port), "--save", "", "--bind", "127.0.0.1"], {
    stdio: "ignore",
  });
  const failed = once(server, "error").then(() =>
    Promise.reject(new Error("install redis-server first: apt-get install redis-server")),
  );
  await Promise.race([once(server, "spawn"), failed]);
  await pause(500);
  return {
    async stop() {
      server.kill();
      await once(server, "exit");
    },
  };
}
