import { listJobsOperation } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Queryable } from "../../db/pool.ts";
import { listJobs } from "../../jobs/list-jobs.ts";
import { toCursor } from "../../jobs/page-cursor.ts";
import { parseListQuery } from "../parse-list-query.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJson } from "../send-json.ts";

export function listJobsRoute(app: FastifyInstance, deps: RequireKeyDeps & { db: Queryable }): void {
  app.get<{ Params: { projectId: string } }>(
    "/v2/agent/:projectId/jobs",
    { schema: listJobsOperation, onRequest: requireKey(deps, { scope: "read" }) },
    async (request, reply) => {
      const { projectId } = request.params;
      const query = parseListQuery(projectId, request.query as Record<string, unknown>);
      const page = await listJobs(deps.db, projectId, query);
      const nextCursor = page.next && toCursor({ projectId, status: query.status }, page.next);
      // The jobs are text already.
      return sendJson(reply, `{"jobs":[${page.jobs.join(",")}],"nextCursor":${JSON.stringify(nextCursor)}}`);
    },
  );
}
