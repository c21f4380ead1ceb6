import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentJob, JobEvent, JobRun } from "@emend/contract";

/** A fault in one request, instead of or after its normal handling. */
type Fault =
  | { kind: "reset" }
  /** The work is done and the response is lost: the case that causes duplicates. */
  | { kind: "reset-after-work" }
  | { kind: "silence" }
  /** An event stream that is interrupted after this many events. */
  | { kind: "cut"; afterEvents: number }
  | { kind: "answer"; status: number; headers?: Record<string, string>; body: string };

interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface ContractServer {
  url: string;
  seen: SeenRequest[];
  /** The projects that the key covers. Only "docs" has jobs. */
  projects: { id: string; name: string; repository: string; baseRef: string | null }[];
  jobs: Map<string, AgentJob>;
  /** The events of each job. The stream ends once its job is final and all events were sent. */
  events: Map<string, JobEvent[]>;
  /** One per request, oldest first. Empty: normal handling. */
  faults: Fault[];
  /** Off: responds at once and ignores `Prefer`, like a proxy that strips it. */
  holds: boolean;
  /** Off: only the two operations that every service with this API has. */
  hasEvents: boolean;
  /** The error of a failed job. */
  failure: NonNullable<JobRun["failure"]>;
  update(id: string, change: Partial<AgentJob>): void;
  tell(id: string, kind: string, data?: unknown): void;
  /** Resolves with the number of requests once there are that many. */
  untilSeen(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A real HTTP server on loopback with the part of the contract that this client uses. */
export async function startContractServer(basePath = ""): Promise<ContractServer> {
  const changes = new EventTarget();
  const replays = new Map<string, string>();
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const self: ContractServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`,
    seen: [],
    projects: [{ id: "docs", name: "Docs", repository: "http://127.0.0.1/docs.git", baseRef: null }],
    jobs: new Map(),
    events: new Map(),
    faults: [],
    holds: true,
    hasEvents: true,
    failure: { code: "policy_denied", message: "ci.yml is not yours to write." },
    update(id, change) {
      const job = self.jobs.get(id);
      if (job) self.jobs.set(id, { ...job, ...change });
      changes.dispatchEvent(new Event("change"));
    },
    tell(id, kind, data = {}) {
      const events = self.events.get(id) ?? [];
      self.events.set(id, [
        ...events,
        { seq: events.length + 1, kind, at: "2026-01-01T00:00:00.000Z", data } as JobEvent,
      ]);
      changes.dispatchEvent(new Event("change"));
    },
    async untilSeen(count) {
      while (self.seen.length < count) await once(changes, "seen");
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    // Not recorded and without faults: tests count the requests about jobs.
    if (request.url === `${basePath}/v2/projects`) return response.end(JSON.stringify({ projects: self.projects }));
    self.seen.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body });
    changes.dispatchEvent(new Event("seen"));

    const fault = self.faults.shift();
    if (fault?.kind === "silence") return null;
    if (fault?.kind === "reset") return request.socket.destroy();
    if (fault?.kind === "answer") return response.writeHead(fault.status, fault.headers).end(fault.body);
    const [, streamed = ""] = /\/job\/([^/]+)\/events$/.exec(request.url ?? "") ?? [];
    if (self.hasEvents && self.jobs.has(streamed)) return streamEvents(request, response, streamed, fault);
    const answer = await route(request, body);
    if (fault?.kind === "reset-after-work") return request.socket.destroy();
    return response
      .writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
      .end(answer.body);
  }

  async function route(request: IncomingMessage, body: string) {
    const [path = "", query] = (request.url ?? "").slice(basePath.length).split("?");
    if (path === "/v2/agent/docs/jobs") return list(new URLSearchParams(query));
    const [, id, action] = /^\/v2\/agent\/docs\/job(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? [];
    const key = String(request.headers["idempotency-key"]);
    if (request.method === "POST" && id === undefined) return create(key);
    const job = self.jobs.get(id ?? "");
    if (!job) return { status: 404, headers: { "emend-error": "not_found" }, body: '{"error":"No such job."}' };
    switch (action) {
      case "archive":
        return changed(job.id, { status: "archived", archivedAt: "2026-01-01T00:00:01.000Z" });
      case "approve":
        return changed(job.id, { status: "active", model: `remember ${JSON.parse(body).remember}` });
      case "decline":
      case "cancel":
        return changed(job.id, { status: "failed" });
      case "message":
        if (replays.has(key))
          return { status: 200, headers: { "idempotent-replayed": "true" }, body: replays.get(key) };
        if (job.status === "active") return { status: 409, headers: {}, body: '{"error":"The job is active."}' };
        replays.set(key, changed(job.id, { status: "active", model: JSON.parse(body).prompt }).body ?? "");
        return { status: 200, headers: {}, body: replays.get(key) };
      case "run":
        return { status: 200, headers: {}, body: JSON.stringify(runOf(job, self.failure)) };
      case "events":
        return { status: 404, headers: {}, body: '{"error":"Not found."}' };
      case "diff":
        return { status: 200, headers: {}, body: JSON.stringify(diff) };
      default:
        return read(request, job.id);
    }
  }

  function changed(id: string, change: Partial<AgentJob>) {
    self.update(id, change);
    return { status: 200, headers: {}, body: JSON.stringify(self.jobs.get(id)) };
  }

  /** Cursors are positions in the list. */
  function list(query: URLSearchParams) {
    const status = query.get("status");
    const found = [...self.jobs.values()].filter((job) => status === null || job.status === status).reverse();
    const from = Number(query.get("cursor") ?? 0);
    const upTo = from + Number(query.get("limit") ?? 20);
    const page = { jobs: found.slice(from, upTo), nextCursor: upTo < found.length ? String(upTo) : null };
    return { status: 200, headers: {}, body: JSON.stringify(page) };
  }

  async function streamEvents(request: IncomingMessage, response: ServerResponse, id: string, fault?: Fault) {
    let seen = Number(request.headers["last-event-id"] ?? 0);
    let left = fault?.kind === "cut" ? fault.afterEvents : Number.POSITIVE_INFINITY;
    const unseen = () => (self.events.get(id) ?? []).slice(seen);
    const isOver = () => self.jobs.get(id)?.status !== "active" && unseen().length === 0;
    if (isOver()) return response.writeHead(204).end();
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" }).write("retry: 1000\n\n");
    for (;;) {
      for (const event of unseen()) {
        if (left === 0) return request.socket.destroy();
        left -= 1;
        seen = event.seq;
        const text = `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
        await new Promise((resolve) => response.write(text, resolve));
      }
      if (isOver()) return response.end();
      await once(changes, "change");
    }
  }

  function create(key: string) {
    const replayed = replays.get(key);
    if (replayed) return { status: 201, headers: { "idempotent-replayed": "true" }, body: replayed };
    const job = newJob(`job_${self.jobs.size + 1}`);
    self.jobs.set(job.id, job);
    replays.set(key, JSON.stringify(job));
    return { status: 201, headers: {}, body: JSON.stringify(job) };
  }

  async function read(request: IncomingMessage, id: string) {
    const known = request.headers["if-none-match"];
    const isLongPoll = self.holds && request.headers.prefer !== undefined;
    while (isLongPoll && etagOf(self.jobs.get(id)) === known) await once(changes, "change");
    const headers = { etag: etagOf(self.jobs.get(id)) };
    if (headers.etag === known) return { status: 304, headers, body: undefined };
    return { status: 200, headers, body: JSON.stringify(self.jobs.get(id)) };
  }

  return self;
}

const diff = {
  diff: "diff --git a/index.md b/index.md\n--- a/index.md\n+++ b/index.md\n@@ -1 +1 @@\n-Sign in\n+Log in\n",
  files: [{ path: "index.md", change: "modified", additions: 1, deletions: 1 }],
};

function runOf(job: AgentJob, reason: JobRun["failure"]): JobRun {
  const failure = job.status === "failed" ? reason : null;
  return {
    id: job.id,
    status: job.status,
    phase: "working",
    prompt: "Fix broken links.",
    model: job.model,
    createdBy: "key_1",
    title: "Fix links",
    summary: "One link leads to its page again.",
    failure,
    waiting: null,
    isApprovable: false,
    declinedBy: null,
    refused: null,
    isRetryable: false,
    notices: [],
    limitReached: null,
    steps: { count: 1, latest: [] },
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, costUsd: 0.01, secondReaderCostUsd: 0 },
    findings: { before: 2, after: 1, introducedCount: 0, fixedCount: 1, introduced: [], fixed: [] },
    violations: [],
    preview: false,
    plan: false,
    context: [],
    sources: [],
    baseCommit: null,
    baseBranch: "main",
    pullRequest: null,
    runs: 1,
    crashes: 0,
    timings: { createdAt: job.createdAt, startedAt: null, updatedAt: job.createdAt, endedAt: null, archivedAt: null },
  };
}

export function newJob(id: string): AgentJob {
  return {
    id,
    status: "active",
    source: { repository: "http://127.0.0.1/docs.git", ref: `emend/${id}` },
    model: "emend/rules",
    prLink: null,
    createdAt: "2026-01-01T00:00:00.000Z",
    archivedAt: null,
  };
}

function etagOf(job: AgentJob | undefined): string {
  return `"${Buffer.from(JSON.stringify(job)).toString("base64url")}"`;
}
