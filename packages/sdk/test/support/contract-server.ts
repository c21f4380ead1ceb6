import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentJob } from "@emend/contract";

/** What happens to one request instead of, or after, its ordinary handling. */
type Fault =
  | { kind: "reset" }
  /** The work is done and the answer lost: the case that makes duplicates. */
  | { kind: "reset-after-work" }
  | { kind: "silence" }
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
  jobs: Map<string, AgentJob>;
  /** Taken one a request, oldest first; none left: the contract. */
  faults: Fault[];
  /** Off: answers at once whatever `Prefer` says, like a proxy that strips it. */
  holds: boolean;
  update(id: string, change: Partial<AgentJob>): void;
  /** Resolves with the number of requests once there are that many. */
  untilSeen(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A real HTTP server on loopback that speaks the part of the contract that this client uses. */
export async function startContractServer(basePath = ""): Promise<ContractServer> {
  const changes = new EventTarget();
  const replays = new Map<string, string>();
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const self: ContractServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`,
    seen: [],
    jobs: new Map(),
    faults: [],
    holds: true,
    update(id, change) {
      const job = self.jobs.get(id);
      if (job) self.jobs.set(id, { ...job, ...change });
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
    self.seen.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body });
    changes.dispatchEvent(new Event("seen"));

    const fault = self.faults.shift();
    if (fault?.kind === "silence") return null;
    if (fault?.kind === "reset") return request.socket.destroy();
    if (fault?.kind === "answer") return response.writeHead(fault.status, fault.headers).end(fault.body);
    const answer = await route(request);
    if (fault?.kind === "reset-after-work") return request.socket.destroy();
    return response
      .writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
      .end(answer.body);
  }

  async function route(request: IncomingMessage) {
    const path = (request.url ?? "").slice(basePath.length);
    const [, id, action] = /^\/v2\/agent\/docs\/job(?:\/([^/]+))?(?:\/(archive))?$/.exec(path) ?? [];
    if (request.method === "POST" && id === undefined) return create(request);
    const job = self.jobs.get(id ?? "");
    if (!job) return { status: 404, headers: { "emend-error": "not_found" }, body: '{"error":"No such job."}' };
    if (action === "archive") {
      self.update(job.id, { status: "archived", archivedAt: "2026-01-01T00:00:01.000Z" });
      return { status: 200, headers: {}, body: JSON.stringify(self.jobs.get(job.id)) };
    }
    return read(request, job.id);
  }

  function create(request: IncomingMessage) {
    const key = String(request.headers["idempotency-key"]);
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
