import { getJobDiffOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { diffJson, diffText, largeDiffs, openDiff } from "../../jobs/diff-stream.ts";
import { createSeats, seatFor } from "../../lib/seats.ts";
import { jobNotFound, refuse, tooManyDiffs } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";

export function getJobDiffRoute(app: FastifyInstance, deps: RequireKeyDeps & { db: Queryable }): void {
  const seats = createSeats(largeDiffs);
  app.get<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/diff",
    { schema: getJobDiffOperation, onRequest: requireKey(deps, { scope: "read" }) },
    async (request, reply) => {
      const takeSeat = seatFor(seats, request.grant?.keyId ?? "", reply.raw);
      const opened = await openDiff(deps.db, request.params, takeSeat);
      if (opened.kind === "unknown_job") return refuse(reply, jobNotFound);
      if (opened.kind === "busy") return refuse(reply, tooManyDiffs);
      reply.header("vary", "accept").header("cache-control", "no-store");
      if (wantsJson(request.headers.accept)) {
        return reply.header("content-type", "application/json; charset=utf-8").send(diffJson(opened.deflated));
      }
      return reply.header("content-type", "text/x-diff; charset=utf-8").send(diffText(opened.deflated));
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
