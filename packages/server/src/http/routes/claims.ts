import {
  AddClaimBody,
  addClaimOperation,
  claimStates,
  claimsPerPage,
  claimsPerPageMax,
  confirmClaimOperation,
  listClaimsOperation,
  removeClaimOperation,
} from "@emend/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Compile } from "typebox/compile";
import {
  addClaim,
  type ClaimQuery,
  confirmClaim,
  fromClaimCursor,
  listClaims,
  removeClaim,
  toClaimCursor,
} from "../../claims/claim-store.ts";
import type { Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { type Refusal, refuse } from "../errors.ts";
import { leaveBodiesUnread, takeBody } from "../request-body.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJson } from "../send-json.ts";

type Identified = { Params: { projectId: string; id: string } };
const claimNotFound: Refusal = { code: "not_found", message: "Claim not found." };

export interface ClaimRoutesDeps extends RequireKeyDeps {
  db: Queryable;
  /** Has a worker look at the project's claims. */
  askClaimPoll(projectId: string): Promise<void>;
}

/** What pages rely on, for programs with an API key. */
export function claimRoutes(app: FastifyInstance, deps: ClaimRoutesDeps): void {
  const reads = requireKey(deps, { scope: "read" });
  const writes = requireKey(deps, { scope: "write" });
  const claims = "/v2/agent/:projectId/claims";

  app.get<{ Params: { projectId: string } }>(
    claims,
    { schema: listClaimsOperation, onRequest: reads },
    async (request, reply) => {
      const { claims, next } = await listClaims(
        deps.db,
        request.params.projectId,
        parseClaimQuery(request.query as Record<string, unknown>),
      );
      return sendJson(reply, JSON.stringify({ claims, nextCursor: next && toClaimCursor(next) }));
    },
  );
  app.post<{ Params: { projectId: string } }>(
    claims,
    { schema: addClaimOperation, onRequest: writes, preParsing: takeBody },
    async (request, reply) => {
      const { projectId } = request.params;
      const createdBy = `key/${request.grant?.keyId}`;
      const claim = await addClaim(deps.db, { ...parseClaimBody(request.body), projectId, createdBy });
      await deps.askClaimPoll(projectId);
      return sendJson(reply.code(201), JSON.stringify(claim));
    },
  );
  app.register(async (scope) => {
    leaveBodiesUnread(scope);
    const answer = (reply: FastifyReply, claim: object | null) =>
      claim === null ? refuse(reply, claimNotFound) : sendJson(reply, JSON.stringify(claim));
    scope.post<Identified>(
      `${claims}/:id/confirm`,
      { schema: confirmClaimOperation, onRequest: writes },
      async ({ params }, reply) => answer(reply, await confirmClaim(deps.db, params.projectId, params.id)),
    );
    scope.delete<Identified>(
      `${claims}/:id`,
      { schema: removeClaimOperation, onRequest: writes },
      async ({ params }, reply) => answer(reply, await removeClaim(deps.db, params.projectId, params.id)),
    );
  });
}

const shape = Compile(AddClaimBody);

function parseClaimBody(body: unknown): AddClaimBody {
  if (!shape.Check(body)) {
    throw invalid(
      'The body must be an object with "page" and "source", for example {"page":"docs/timeouts.md:12","source":"@api/src/net.ts:4"}.',
    );
  }
  return { page: body.page, source: body.source };
}

/** Unknown parameters are ignored. */
function parseClaimQuery(query: Record<string, unknown>): ClaimQuery {
  const { page, state, limit, cursor } = query;
  const known = claimStates.find((one) => one === state);
  if (state !== undefined && known === undefined) throw invalid(`state must be one of ${claimStates.join(", ")}.`);
  if (page !== undefined && (typeof page !== "string" || page.includes("\0"))) throw invalid("page must be one path.");
  const count = limit === undefined ? claimsPerPage : /^[0-9]{1,4}$/.test(String(limit)) ? Number(limit) : 0;
  if (count < 1 || count > claimsPerPageMax) throw invalid(`limit must be a number from 1 to ${claimsPerPageMax}.`);
  const after = cursor === undefined ? null : fromClaimCursor(String(cursor));
  if (cursor !== undefined && after === null) throw invalid("cursor is not valid for this list.");
  return { page: page ?? null, state: known ?? null, limit: count, after };
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
