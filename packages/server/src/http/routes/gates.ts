import {
  type Gate,
  type GateSummary,
  getGateOperation,
  getHealthOperation,
  type Health,
  listGatesOperation,
  lookAtGateOperation,
} from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { listContextRepositories } from "../../accounts/projects/context-repositories.ts";
import type { Queryable } from "../../db/pool.ts";
import { type GateStatus, getStatus, listStatuses } from "../../gate/gate-store.ts";
import { readSiteHealth } from "../../health/site-checks.ts";
import { type Refusal, refuse } from "../errors.ts";
import { leaveBodiesUnread } from "../request-body.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJson } from "../send-json.ts";

type OfProject = { Params: { projectId: string } };
type Identified = { Params: { projectId: string; id: string } };
const gateNotFound: Refusal = { code: "not_found", message: "Status not found." };

export interface GateRoutesDeps extends RequireKeyDeps {
  db: Queryable;
  /** Has a worker look at the pull requests of the project's repositories. */
  askGate(projectId: string): Promise<void>;
}

/** What Emend says on pull requests, and about the whole site, for programs with an API key. */
export function gateRoutes(app: FastifyInstance, deps: GateRoutesDeps): void {
  const { db } = deps;
  const reads = requireKey(deps, { scope: "read" });
  const writes = requireKey(deps, { scope: "write" });
  const gates = "/v2/agent/:projectId/gates";

  async function namesOf(projectId: string): Promise<ReadonlyMap<string | null, string>> {
    return new Map((await listContextRepositories(db, projectId)).map(({ id, name }) => [id, name]));
  }

  /** Null: the project does not have this status. */
  async function find({ projectId, id }: Identified["Params"]): Promise<Gate | null> {
    const status = /^gat_[0-9a-z]{1,40}$/.test(id) ? await getStatus(db, id) : null;
    if (status?.projectId !== projectId) return null;
    const findings = status.findings.map(
      ({ check, severity, path, line, message, renamed, causes, claim, verdict }) => ({
        ...{ check, severity, path, line, message },
        ...(renamed && { renamed }),
        ...(causes && { causes: [...causes] }),
        ...(claim && { claim }),
        ...(verdict && { verdict }),
      }),
    );
    return { ...toWire(status, await namesOf(projectId)), findings };
  }

  app.get<OfProject>(gates, { schema: listGatesOperation, onRequest: reads }, async ({ params }, reply) => {
    const names = await namesOf(params.projectId);
    const found = (await listStatuses(db, params.projectId)).map((status) => toWire(status, names));
    return sendJson(reply, JSON.stringify({ gates: found }));
  });
  app.get<Identified>(`${gates}/:id`, { schema: getGateOperation, onRequest: reads }, async ({ params }, reply) => {
    const gate = await find(params);
    return gate === null ? refuse(reply, gateNotFound) : sendJson(reply, JSON.stringify(gate));
  });
  app.register(async (scope) => {
    leaveBodiesUnread(scope);
    scope.post<Identified>(
      `${gates}/:id/look`,
      { schema: lookAtGateOperation, onRequest: writes },
      async ({ params }, reply) => {
        const gate = await find(params);
        if (gate === null) return refuse(reply, gateNotFound);
        await deps.askGate(params.projectId);
        return sendJson(reply.code(202), JSON.stringify(gate));
      },
    );
  });

  app.get<OfProject>(
    "/v2/agent/:projectId/health",
    { schema: getHealthOperation, onRequest: reads },
    async ({ params }, reply) => {
      const { checks, findings, problem } = await readSiteHealth(db, params.projectId);
      const latest = checks.at(-1);
      const health: Health = {
        checkedAt: latest?.checkedAt.toISOString() ?? null,
        commit: latest?.commit ?? null,
        branch: latest?.branch ?? null,
        pages: latest?.pages ?? 0,
        problem: problem?.words ?? null,
        counts: [...(latest?.counts ?? [])],
        sources: [...(latest?.sources ?? [])],
        findings: [...findings],
      };
      return sendJson(reply, JSON.stringify(health));
    },
  );
}

function toWire(status: GateStatus, names: ReadonlyMap<string | null, string>): GateSummary {
  const { id, number, pull, head, name, state, words, refusal, jobId, judgedAt, updatedAt } = status;
  return {
    ...{ id, number, head, name, state, words, refusal, jobId },
    repository: names.get(status.contextId) ?? null,
    title: pull.title,
    url: pull.url,
    judgedAt: judgedAt?.toISOString() ?? null,
    updatedAt: updatedAt.toISOString(),
  };
}
