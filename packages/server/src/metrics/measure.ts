import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdir, stat } from "node:fs/promises";
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { Model, Usage } from "@emend/agent";
import type { Logger } from "@emend/base/logger.ts";
import type { Fetch } from "@emend/base/network.ts";
import type { Queryable } from "../db/pool.ts";
import type { Disk } from "../lib/disk.ts";
import { createdJobOf, requestId } from "../lib/id.ts";
import { addGauge, type Metrics } from "./metrics.ts";

/** Hosts are those that the operator configured, so there are few. */
export function measureFetch(metrics: Metrics, fetch: Fetch): Fetch {
  return async (url, init) => {
    const host = URL.parse(url)?.host ?? "";
    const stopTimer = metrics.farRequestSeconds.startTimer({ host });
    try {
      const answer = await fetch(url, init);
      metrics.farRequests.inc({ host, status: answer.status });
      return answer;
    } catch (error) {
      metrics.farRequests.inc({ host, status: 0 });
      throw error;
    } finally {
      stopTimer();
    }
  };
}

/** The number of this node's mirrors and the size of their packs, which is nearly all of a mirror. */
export function measureMirrors(metrics: Metrics, dir: string): void {
  addGauge(metrics, { name: "emend_mirrors", help: "Mirrors on this node" }, async (gauge) =>
    gauge.set((await listMirrors(dir)).length),
  );
  addGauge(
    metrics,
    { name: "emend_mirrors_bytes", help: "Size of the mirrors on this node, in bytes" },
    async (gauge) => {
      let bytes = 0;
      for (const mirror of await listMirrors(dir)) bytes += await packBytes(join(dir, mirror, "objects/pack"));
      gauge.set(bytes);
    },
  );
}

export function measureDisk(metrics: Metrics, disk: Disk): void {
  addGauge(metrics, { name: "emend_disk_free_bytes", help: "Free space where this process writes" }, async (gauge) =>
    gauge.set(await disk.freeBytes()),
  );
  const help = "1 while this process claims no jobs because its disk is full or cannot be written";
  addGauge(metrics, { name: "emend_disk_full", help }, async (gauge) =>
    gauge.set(Number((await disk.problem()) !== null)),
  );
}

async function listMirrors(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** A pack may be deleted meanwhile. */
async function packBytes(dir: string): Promise<number> {
  const names = await readdir(dir).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(dir, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Wraps a model to count its turns. */
export function measureModel(metrics: Metrics, model: Model): Model {
  const { run } = model;
  return {
    ...model,
    // A runner has no turns to time; its steps are counted.
    ...(run && {
      run: (deps, task, signal) =>
        run(
          {
            ...deps,
            async saveStep(step, edits) {
              await deps.saveStep(step, edits);
              count(metrics, model.name, step.usage);
            },
          },
          task,
          signal,
        ),
    }),
    async nextTurn(input, signal) {
      const labels = { model: model.name };
      const stopTimer = metrics.modelTurnSeconds.startTimer(labels);
      try {
        const turn = await model.nextTurn(input, signal);
        count(metrics, model.name, turn.usage);
        return turn;
      } catch (error) {
        metrics.modelTurns.inc({ ...labels, outcome: signal.aborted ? "aborted" : "failed" });
        throw error;
      } finally {
        stopTimer();
      }
    },
  };
}

function count(metrics: Metrics, model: string, usage: Usage): void {
  metrics.modelTurns.inc({ model, outcome: "answered" });
  metrics.modelTokens.inc({ model, kind: "input" }, usage.inputTokens);
  metrics.modelTokens.inc({ model, kind: "output" }, usage.outputTokens);
  metrics.modelTokens.inc({ model, kind: "cached" }, usage.cachedInputTokens);
  metrics.modelCostUsd.inc({ model }, usage.costUsd);
}

interface QueueRow {
  waiting: number;
  running: number;
  oldest_seconds: number;
  deliveries: number;
}

/** What waits in the whole installation. Every process reports the same, so use the maximum, not the sum. */
export function measureQueue(metrics: Metrics, db: Queryable): void {
  let reading: Promise<QueueRow> | undefined;
  // One query for all gauges of a scrape.
  const read = () => {
    reading ??= readQueue(db).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  addGauge(metrics, { name: "emend_queue_waiting", help: "Queued jobs that are due" }, async (gauge) =>
    gauge.set((await read()).waiting),
  );
  addGauge(metrics, { name: "emend_queue_running", help: "Running jobs" }, async (gauge) =>
    gauge.set((await read()).running),
  );
  addGauge(
    metrics,
    { name: "emend_queue_oldest_seconds", help: "How long the oldest queued job has been due" },
    async (gauge) => gauge.set((await read()).oldest_seconds),
  );
  addGauge(metrics, { name: "emend_deliveries_due", help: "Webhook deliveries that are due" }, async (gauge) =>
    gauge.set((await read()).deliveries),
  );
}

export async function readQueue(db: Queryable): Promise<QueueRow> {
  const { rows } = await db.query<QueueRow>({
    name: "read-queue",
    text: `
      select count(*)::int as waiting,
        coalesce(extract(epoch from now() - min(run_after)), 0)::float8 as oldest_seconds,
        (select count(*)::int from jobs where lease is not null) as running,
        (select count(*)::int from deliveries where state = 'pending' and due_at <= now()) as deliveries
      from jobs where status = 'active' and lease is null and run_after <= now()`,
  });
  return rows[0] as QueueRow;
}

const startedAt = Symbol("startedAt");
type Timed = IncomingMessage & { [startedAt]?: number };
interface Notice {
  request: Timed;
  response: ServerResponse;
  server: Server;
}
const methods = new Set(METHODS);

/**
 * Counts and logs responses. It uses Node's diagnostics channels and not the framework's hooks, which would cost the
 * fastest route a tenth of its requests per second. Reads are logged at debug level, because clients poll.
 */
export function measureRequests(deps: { metrics: Metrics; log: Logger }, server: Server): () => void {
  const { metrics, log } = deps;

  function begin(notice: unknown): void {
    const { request, server: of } = notice as Notice;
    if (of === server) request[startedAt] = performance.now();
  }

  function finish(notice: unknown): void {
    const { request, response, server: of } = notice as Notice;
    if (of !== server) return;
    const ms = performance.now() - (request[startedAt] ?? performance.now());
    const where = routeOf(request.url ?? "");
    const method = methods.has(request.method ?? "") ? (request.method ?? "") : "other";
    metrics.requests.inc({ method, route: where.route, status: response.statusCode });
    if (!where.route.endsWith("/events")) metrics.requestSeconds.observe({ method, route: where.route }, ms / 1000);
    const isNotable = response.statusCode >= 500 || (method !== "GET" && method !== "HEAD");
    const level = isNotable ? "info" : "debug";
    if (!log.isLevelEnabled(level)) return;
    const ids = { projectId: shorten(where.projectId), jobId: shorten(where.jobId ?? createdJobOf(request)) };
    const about = { requestId: requestId(request), method, route: where.route, ...ids };
    log[level]({ ...about, status: response.statusCode, ms: Math.round(ms * 10) / 10 }, "request answered");
  }

  subscribe("http.server.request.start", begin);
  subscribe("http.server.response.finish", finish);
  return () => {
    unsubscribe("http.server.request.start", begin);
    unsubscribe("http.server.response.finish", finish);
  };
}

/** A client's path is untrusted. */
function shorten(id: string | undefined): string | undefined {
  return id?.slice(0, 64);
}

const jobPath =
  /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+)(?:\/(run|diff|events|cancel|archive|message|retry|publish))?)?\/?$/;
const projectPath = /^\/v2\/agent\/([^/]+)\/(jobs|claims|automations|gates|health)(\/[^/]+(\/[^/]+)?)?\/?$/;
const dashboardPath = /^\/dashboard\/api\/(?:projects\/([^/]+)|jobs\/([^/]+))/;
const plainPaths = new Set(["/healthz", "/readyz", "/metrics", "/openapi.json", "/mcp", "/v2/projects"]);

const folders = new Set(["git", "reference", "dashboard", "hooks", "app", "pictures", "scim", "knowledge"]);

interface RequestRoute {
  /** From a closed set. */
  route: string;
  projectId?: string | undefined;
  jobId?: string | undefined;
}

/** The route of a path, by its form. */
export function routeOf(url: string): RequestRoute {
  const end = url.indexOf("?");
  const path = end === -1 ? url : url.slice(0, end);
  const job = jobPath.exec(path);
  if (job) {
    const [, projectId, jobId, action] = job;
    const route = `/v2/agent/:projectId/job${jobId ? "/:id" : ""}${action ? `/${action}` : ""}`;
    return { route, projectId, jobId };
  }
  const ofProject = projectPath.exec(path);
  if (ofProject) {
    const [, projectId, kind, id, action] = ofProject;
    return { route: `/v2/agent/:projectId/${kind}${id ? "/:id" : ""}${action ? "/*" : ""}`, projectId };
  }
  if (plainPaths.has(path)) return { route: path };
  const [, first = ""] = path.split("/", 2);
  const [, projectId, jobId] = dashboardPath.exec(path) ?? [];
  return { route: folders.has(first) ? `/${first}/*` : "other", projectId, jobId };
}
