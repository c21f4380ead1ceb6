import { join } from "node:path";
import type { Model } from "@emend/agent";
import { createLogger } from "@emend/base/logger.ts";
import { createFetch } from "@emend/base/network.ts";
import { createWriteQueue } from "@emend/publish";
import { createPageReader } from "@emend/review";
import { openDiskCache } from "@emend/site";
import { createGit, createMirrors } from "@emend/tree";
import type { Message } from "../../agent/src/agent.ts";
import { createRulesModel } from "../../agent/src/rules/rules-model.ts";
import { getProject } from "../../server/src/accounts/projects/projects.ts";
import { startListener } from "../../server/src/db/listener.ts";
import { createPool, type Pool } from "../../server/src/db/pool.ts";
import { openForge } from "../../server/src/forge/open-forge.ts";
import { type CrashPoint, createCrashPoint } from "../../server/src/run/crash-points.ts";
import { createStages } from "../../server/src/run/create-stages.ts";
import { startWorker } from "../../server/src/run/worker.ts";
import { type ScriptedTurn, scriptedModel } from "./scripted-model.ts";

export interface ForgeWorkerOrder {
  databaseUrl: string;
  /** This node's own folder. */
  dir: string;
  forgeDir: string;
  publicUrl: string;
  /** The same token for every project. */
  token: string;
  crashAt?: string;
  /** Its model is one that asks a question, and writes the answer on a page. */
  asks?: boolean;
  /** The length of a second while publishing waits for a forge. */
  secondMs?: number;
}

/** For a worker in this process: called at every crash point. */
type Passed = (point: CrashPoint) => void;

/** A worker with the real stages. The table `turns` counts its model turns. */
export async function startForgeWorker(order: ForgeWorkerOrder, passed?: Passed): Promise<{ stop(): Promise<void> }> {
  const log = createLogger({ level: "silent" });
  const pool = createPool({ url: order.databaseUrl, connectionsMax: 4, log });
  const listener = await startListener({ url: order.databaseUrl, log });
  const git = createGit({ allowedProtocols: ["http", "file"] });
  const network = createFetch({});
  const mirrors = createMirrors({ dir: join(order.dir, "mirrors"), git, log });
  const forges = {
    local: { git, forgeDir: order.forgeDir, pool, publicUrl: () => order.publicUrl },
    reach: { fetch: network.fetch, addressesOf: async () => null },
    githubTokens: new Map(),
    credentialOf: async () => order.token,
  };
  const crash = createCrashPoint(order.crashAt);
  const crashPoint: Passed = (point) => {
    passed?.(point);
    crash(point);
  };
  const stages = createStages({
    mirrors,
    writes: createWriteQueue(),
    siteCache: await openDiskCache(join(order.dir, "site-cache")),
    pageReader: createPageReader(),
    findProject: (id) => getProject(pool, id),
    openForge: (project) => openForge(project, forges),
    openModel: async () => counted(pool, order.asks ? scriptedModel(askThenWrite) : createRulesModel()),
    listContext: async () => [],
    recentSubjects: async () => [],
    pageHistory: async () => [],
    readCommit: async () => null,
    knownSecrets: async () => [],
    spentBudget: async () => null,
    findRefused: async () => null,

    findTouching: async () => null,
    jobUrl: (job) => `${order.publicUrl}/job/${job.id}`,
    crashPoint,
    log,
    ...(order.secondMs !== undefined && { secondMs: order.secondMs }),
  });
  const worker = startWorker(
    { pool, databaseUrl: order.databaseUrl, listener, log, stages, crashPoint },
    { concurrency: 2, pollMs: 50, retryMs: 50 },
  );
  return {
    async stop() {
      await worker.stop();
      await mirrors.close();
      await listener.close();
      await network.close();
      await pool.end();
    },
  };
}

function askThenWrite(turn: number, messages: readonly Message[]): ScriptedTurn {
  if (turn === 0) return [["ask", { question: "What is it called?", options: ["access key"] }]];
  const said = messages.findLast((one) => one.role === "user");
  const answer = said?.role === "user" ? (said.text.split("\n").at(-1) ?? "") : "";
  const newText = `Use your ${answer}.`;
  if (turn === 1) return [["edit_file", { path: "guides/start.md", oldText: "Use your API token.", newText }]];
  return [["finish", { title: "Name it as asked", summary: "Named it as asked." }]];
}

/** These tests run one job at a time, so the turn belongs to the active one. */
function counted(pool: Pool, model: Model): Model {
  return {
    ...model,
    async nextTurn(input, signal) {
      const number = input.messages.filter((message) => message.role === "assistant").length + 1;
      await pool.query(
        `insert into turns (job_id, number, stored)
         select id, $1, exists (select from steps where job_id = jobs.id and number = $1) from jobs where status = 'active'`,
        [number],
      );
      return model.nextTurn(input, signal);
    },
  };
}
