import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../errors.ts";
import { disconnectSignal } from "../../http/disconnect-signal.ts";
import { tooManyStreams } from "../../http/errors.ts";
import { openEventStream } from "../../http/event-stream.ts";
import { streamTimes } from "../../http/routes/stream-job-events.ts";
import { followEvents, readEventPage } from "../../jobs/read/events.ts";
import { requestId } from "../../lib/request-id.ts";
import { createSeats } from "../../lib/semaphore.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findJob } from "../find.ts";
import { subjectOf } from "../require-session.ts";

const reconnectMs = 1_000;

/** The job's events from the beginning, or after the last one that the browser has seen, as they happen. */
export function streamEventsRoute(app: FastifyInstance, deps: RouteDeps): void {
  const closing = new AbortController();
  const seats = createSeats();
  app.addHook("preClose", async () => closing.abort());

  app.get<{ Params: { id: string } }>(
    "/jobs/:id/events",
    { exposeHeadRoute: false },
    async (request, reply): Promise<unknown> => {
      const { id } = await findJob(deps.pool, request.params.id);
      const afterSeq = lastSeen(request);
      const first = await readEventPage(deps.pool, id, afterSeq);
      // A browser connects again after every end but this one.
      if (first.isLast && first.events.length === 0) return reply.code(204).send();
      const leave = seats.take(subjectOf(request));
      if (leave === null) throw new AppError("rate_limited", { publicMessage: tooManyStreams.message });
      reply.hijack();
      await stream(request, reply, { id, afterSeq })
        .catch((err) => {
          deps.log.warn({ err, jobId: id, requestId: requestId(request.raw) }, "event stream ended early");
          reply.raw.destroy();
        })
        .finally(leave);
      return reply;
    },
  );

  async function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    job: { id: string; afterSeq: number },
  ): Promise<void> {
    const lifeEnd = AbortSignal.timeout(streamTimes.lifeMsMax);
    const signal = AbortSignal.any([closing.signal, disconnectSignal(reply), lifeEnd]);
    const client = openEventStream(reply.raw, { reconnectMs, stallMsMax: streamTimes.stallMsMax });
    const follow = { afterSeq: job.afterSeq, idleMs: streamTimes.heartbeatMs, signal };
    for await (const events of followEvents({ db: deps.pool, reader: deps.reader }, job.id, follow)) {
      // A session may end while its stream is open; from then on it is told nothing more.
      if (!(await deps.sessions.find(request.headers.cookie))) break;
      const isHeard = events.length > 0 ? await client.send(events) : await client.beat();
      if (!isHeard) return;
    }
    client.end();
  }
}

/** Browsers say it in a header when they connect again by themselves; a page that does so can but write it in the address. */
function lastSeen(request: FastifyRequest): number {
  const { after } = request.query as { after?: unknown };
  const seen = request.headers["last-event-id"] ?? after ?? "0";
  if (typeof seen === "string" && /^[0-9]{1,9}$/.test(seen)) return Number(seen);
  throw new AppError("invalid_request", { publicMessage: "Last-Event-ID is not from this stream." });
}
