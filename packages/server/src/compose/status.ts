import type { Fetch } from "@emend/base/network.ts";
import { type DashboardStatus, isModelVendor, modelVendors } from "@emend/contract";
import type { Config } from "../config/config.ts";
import type { Pool } from "../db/pool.ts";
import { listNodes } from "../installation/nodes.ts";
import { version } from "../lib/version.ts";
import { readQueue } from "../metrics/measure.ts";
import { listWaitingTasks } from "../tasks/task-queue.ts";

interface StatusDeps {
  pool: Pool;
  config: Pick<Config, "model" | "modelFallbacks" | "modelEndpoints">;
  fetch: Fetch;
  /** SSRF guard. */
  forgeFetch: Fetch;
}

const answerMsMax = 4_000;
const freshMs = 30_000;

/** An overview for operators. Remote services are contacted at most twice a minute. */
export function createStatusReader(deps: StatusDeps): () => Promise<DashboardStatus> {
  const { pool, config } = deps;
  const known = new Map<string, { at: number; answer: Promise<string | null> }>();

  function askOnce(url: string, fetch = deps.fetch): Promise<string | null> {
    const last = known.get(url);
    if (last && Date.now() - last.at < freshMs) return last.answer;
    const answer = whyUnreachable(fetch, url);
    known.set(url, { at: Date.now(), answer });
    return answer;
  }

  async function modelsReached(): Promise<DashboardStatus["models"]> {
    return Promise.all(
      [config.model, ...config.modelFallbacks].map(async (name) => {
        const vendor = name.split("/")[0] ?? "";
        const url = config.modelEndpoints[vendor]?.baseUrl ?? (isModelVendor(vendor) ? modelVendors[vendor].url : null);
        return { name, url, problem: url === null ? null : await askOnce(url) };
      }),
    );
  }

  async function forgesReached(): Promise<DashboardStatus["forges"]> {
    const { rows } = await pool.query<{ forge: string; url: string; projects: number }>(
      `select forge, substring(repository_url from '^[a-z]+://[^/]+') as url, count(*)::int as projects
       from projects where forge <> 'local' group by 1, 2 order by projects desc limit 20`,
    );
    return Promise.all(rows.map(async (row) => ({ ...row, problem: await askOnce(row.url, deps.forgeFetch) })));
  }

  return async () => {
    const [nodes, outbox, queue, size, backup, models, forges] = await Promise.all([
      listNodes(pool),
      listWaitingTasks(pool),
      readQueue(pool),
      pool.query<{ bytes: number; server: string }>(
        "select pg_database_size(current_database())::float8 as bytes, current_setting('server_version') as server",
      ),
      pool.query<{ value: { at: string } }>("select value from settings where name = 'lastBackup'"),
      modelsReached(),
      forgesReached(),
    ]);
    return {
      version,
      nodes: nodes.map(({ startedAt, seenAt, ...node }) => ({
        ...node,
        startedAt: startedAt.toISOString(),
        seenAt: seenAt.toISOString(),
      })),
      queue: { waiting: queue.waiting, running: queue.running, oldestSeconds: queue.oldest_seconds },
      deliveriesDue: queue.deliveries,
      outbox,
      models,
      forges,
      database: { bytes: size.rows[0]?.bytes ?? 0, version: size.rows[0]?.server ?? "" },
      lastBackupAt: backup.rows[0]?.value.at ?? null,
    };
  };
}

/** Null if something answers, whatever it says. */
async function whyUnreachable(fetch: Fetch, url: string): Promise<string | null> {
  const signal = AbortSignal.timeout(answerMsMax);
  try {
    const { body } = await fetch(url, {
      method: "GET",
      headers: { "user-agent": "emend" },
      redirect: "manual",
      signal,
    });
    // An unread body would keep its connection.
    await (body as unknown as ReadableStream | null)?.cancel();
    return null;
  } catch (error) {
    if (signal.aborted) return "No answer within 4 seconds";
    const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    return reasons[code ?? ""] ?? `Cannot connect${code ? ` (${code})` : ""}`;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: "Unknown host name",
  EAI_AGAIN: "The host name cannot be looked up",
  ECONNREFUSED: "The connection was refused",
};
