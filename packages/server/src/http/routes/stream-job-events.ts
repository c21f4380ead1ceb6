import { streamJobEventsOperation } from "@emend/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { authenticateKey } from "../../accounts/keys/keyring.ts";
import type { Queryable } from "../../db/pool.ts";
import { followEvents, readEventPage } from "../../jobs/read/events.ts";
import type { JobReader } from "../../jobs/read/job-reader.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Seats } from "../../lib/semaphore.ts";
import { disconnectSignal } from "../disconnect-signal.ts";
import { aboutRequest, jobNotFound, refuse, tooManyStreams } from "../errors.ts";
import { openEventStream } from "../event-stream.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";

export interface StreamTimes {
  /** A comment is sent after this much silence. */
  heartbeatMs: number;
  /** A client that reads nothing for this long is cut off. */
  stallMsMax: number;
  /** Then the client connects again: streams spread over new nodes, and keys are judged anew. */
  lifeMsMax: number;
}

export const streamTimes: StreamTimes = { heartbeatMs: 15_000, stallMsMax: 30_000, lifeMsMax: 3_600_000 };
const reconnectMs = 1_000;

interface Deps extends RequireKeyDeps {
  db: Queryable;
  reader: JobReader;
  log: Logger;
  times: StreamTimes;
  seats: Seats;
}
type EventsRequest = FastifyRequest<{ Params: { projectId: string; id: string } }>;

export function streamJobEventsRoute(app: FastifyInstance, deps: Deps): void {
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  app.get<{ Params: EventsRequest["params"] }>(
    "/v2/agent/:projectId/job/:id/events",
    { schema: streamJobEventsOperation, onRequest: requireKey(deps, { scope: "read" }) },
    async (request, reply) => {
      const afterSeq = lastSeen(request);
      if (afterSeq === null) {
        return refuse(reply, { code: "invalid_request", message: "Last-Event-ID is not from this stream." });
      }
      const job = await deps.reader.read(request.params.id);
      if (job?.projectId !== request.params.projectId) return refuse(reply, jobNotFound);
      const first = await readEventPage(deps.db, request.params.id, afterSeq);
      if (first.isLast && first.events.length === 0) {
        return reply.code(204).header("cache-control", "no-store").send();
      }
      const leave = deps.seats.take(request.grant?.keyId ?? "");
      if (leave === null) return refuse(reply, tooManyStreams);
      const ended = AbortSignal.any([
        closing.signal,
        disconnectSignal(reply),
        AbortSignal.timeout(deps.times.lifeMsMax),
      ]);
      reply.hijack();
      await stream(request, reply, afterSeq, ended)
        .catch((err) => {
          // The answer has begun, so there is no other way to say it: the client connects again.
          deps.log.warn({ err, ...aboutRequest(request) }, "event stream ended early");
          reply.raw.destroy();
        })
        .finally(leave);
      return reply;
    },
  );

  async function stream(
    request: EventsRequest,
    reply: FastifyReply,
    afterSeq: number,
    signal: AbortSignal,
  ): Promise<void> {
    const client = openEventStream(reply.raw, { reconnectMs, stallMsMax: deps.times.stallMsMax });
    if (request.method === "HEAD") return client.end();
    const follow = { afterSeq, idleMs: deps.times.heartbeatMs, signal };
    for await (const events of followEvents(deps, request.params.id, follow)) {
      // A key may be revoked while its stream is open; from then on it is told nothing more.
      if ((await authenticateKey(deps.keyring, request)) === null) break;
      const isHeard = events.length > 0 ? await client.send(events) : await client.beat();
      if (!isHeard) return;
    }
    client.end();
  }
}

/** 0: from the beginning; null: nothing that was ever given. */
function lastSeen(request: EventsRequest): number | null {
  const header = request.headers["last-event-id"];
  if (header === undefined || header === "") return 0;
  return typeof header === "string" && /^[0-9]{1,9}$/.test(header) ? Number(header) : null;
}
