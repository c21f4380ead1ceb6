import { getJobRunOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { readRun } from "../../jobs/read-run.ts";
import { jobNotFound, refuse } from "../refuse.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJson } from "../send-json.ts";

export function getJobRunRoute(app: FastifyInstance, deps: RequireKeyDeps & { db: Queryable }): void {
  app.get<{ Params: { projectId: string; id: string } }>(
    "/v2/agent/:projectId/job/:id/run",
    { schema: getJobRunOperation, onRequest: requireKey(deps, { scope: "read" }) },
    async (request, reply) => {
      const run = await readRun(deps.db, request.params);
      return run === null ? refuse(reply, jobNotFound) : sendJson(reply, JSON.stringify(run));
    },
  );
}
