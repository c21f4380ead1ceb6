import { getJobDiffOperation, type JobDiff } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { diffFiles } from "../../jobs/diff-files.ts";
import { readDiff } from "../../jobs/read-diff.ts";
import { createSeats } from "../../lib/seats.ts";
import { jobNotFound, refuse, tooManyDiffs } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJson } from "../send-json.ts";

/** Smaller ones are no burden, however many are read at once. */
const smallBytesMax = 1024 * 1024;
/** A diff has up to 16 MiB, of which an answer as JSON is made of several copies, and a slow client holds them. */
const large = { perHolderMax: 4, allMax: 16 };

export function getJobDiffRoute(app: FastifyInstance, deps: RequireKeyDeps & { db: Queryable }): void {
  const seats = createSeats(large);
  app.get<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/diff",
    { schema: getJobDiffOperation, onRequest: requireKey(deps, { scope: "read" }) },
    async (request, reply) => {
      const bytes = await readDiff(deps.db, request.params);
      if (bytes === null) return refuse(reply, jobNotFound);
      if (bytes.length > smallBytesMax) {
        const leave = seats.take(request.grant?.keyId ?? "");
        if (leave === null) return refuse(reply, tooManyDiffs);
        // Handed over whole, or given up: a request from within this process knows no close.
        reply.raw.once("finish", leave).once("close", leave);
      }
      reply.header("vary", "accept");
      if (wantsJson(request.headers.accept)) {
        const diff = bytes.toString("utf8");
        const body: JobDiff = { diff, files: [...diffFiles(diff)] };
        return sendJson(reply, JSON.stringify(body));
      }
      reply.header("content-type", "text/x-diff; charset=utf-8");
      reply.header("cache-control", "no-store");
      return reply.send(bytes);
    },
  );
}

/** Text is the default: only a client that names JSON, and not the diff before it, gets JSON. */
function wantsJson(accept: string | undefined): boolean {
  const types = (accept ?? "").toLowerCase().split(",");
  const place = (type: string) => types.findIndex((each) => each.split(";", 1)[0]?.trim() === type);
  const [json, diff] = [place("application/json"), place("text/x-diff")];
  return json !== -1 && (diff === -1 || json < diff);
}
