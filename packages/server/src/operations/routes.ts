import {
  type Access,
  everyAnswerHeaders,
  type Operation,
  type OperationName,
  operations,
  parametersOf,
  refusals,
} from "@emend/contract";
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type KeyGrant, type KeyScope, keyScopes } from "../accounts/keys/api-keys.ts";
import { authenticateKey, type Keyring } from "../accounts/keys/keyring.ts";
import { actorOf } from "../dashboard/require-session.ts";
import { forOwners, projectNotFound, refuse, scopeTooSmall, unauthorized } from "../http/errors.ts";
import { leaveBodiesUnread, readJsonBodies, takeBody } from "../http/request-body.ts";
import { sendJson } from "../http/send-json.ts";
import { carryOut } from "./carry-out.ts";
import type { OperationDeps } from "./handler.ts";

const rows = Object.entries(operations) as [OperationName, Operation][];
/** What a key needs for what each role may do. No key does what takes an owner. */
const scopeOf: Readonly<Record<Access, KeyScope | null>> = { viewer: "read", maintainer: "manage", owner: null };

/** The door of programs: `/v2` with an API key. */
export function operationsPlugin(deps: OperationDeps & { keyring: Keyring }): FastifyPluginAsync {
  return async (app) => {
    readJsonBodies(app);
    // As for the jobs' routes: schemas are for the document.
    app.setValidatorCompiler(() => undefined as never);
    app.setSerializerCompiler(() => JSON.stringify);
    addRoutes(app, (row) => !hasNoBody(row));
    app.register(async (scope) => {
      leaveBodiesUnread(scope);
      addRoutes(scope, hasNoBody);
    });
  };

  function addRoutes(scope: FastifyInstance, isHere: (row: Operation) => boolean): void {
    for (const [name, row] of rows.filter(([, each]) => isHere(each))) {
      scope.route({
        method: row.method,
        url: `/v2${row.path}`,
        schema: describe(name, row),
        async onRequest(request, reply) {
          const grant = await authenticateKey(deps.keyring, request);
          if (grant === null) return refuse(reply, unauthorized);
          const { projectId } = request.params as { projectId?: string };
          if (projectId !== undefined && !grant.projectIds.has(projectId)) return refuse(reply, projectNotFound);
          const needed = scopeOf[row.access];
          if (needed === null) return refuse(reply, forOwners);
          if (keyScopes.indexOf(grant.scope) < keyScopes.indexOf(needed)) return refuse(reply, scopeTooSmall(needed));
          request.grant = grant;
        },
        ...(!hasNoBody(row) && { preParsing: takeBody }),
        async handler(request, reply) {
          const { keyId, projectIds } = request.grant as KeyGrant;
          const caller = { actor: { name: `key/${keyId}`, address: request.ip }, projectIds };
          const text = await carryOut(deps, caller, name, inputOf(request));
          return sendJson(reply, text);
        },
      });
    }
  }
}

/** The door of people: one path for each operation, whose body is the input. */
export function sessionOperationRoutes(app: FastifyInstance, deps: OperationDeps): void {
  for (const [name, row] of rows) {
    app.post(`/operations/${name}`, { config: { role: row.access } }, async (request, reply) =>
      sendJson(reply, await carryOut(deps, { actor: actorOf(request), projectIds: null }, name, request.body ?? {})),
    );
  }
}

function fieldsOf(row: Operation): readonly string[] {
  const parameters = parametersOf(row);
  return Object.keys(row.input.properties).filter((name) => !parameters.includes(name));
}

function hasNoBody(row: Operation): boolean {
  return row.method === "GET" || fieldsOf(row).length === 0;
}

/** What the path says wins. */
function inputOf({ method, query, body, params }: FastifyRequest): object {
  return { ...((method === "GET" || method === "HEAD" ? query : body) as object | null), ...(params as object) };
}

/** The row in the OpenAPI document. */
function describe(name: OperationName, row: Operation): object {
  const only = (names: readonly string[]) =>
    Type.Object(Object.fromEntries(names.map((each) => [each, row.input.properties[each] ?? Type.String()])));
  const [fields, parameters] = [fieldsOf(row), parametersOf(row)];
  return {
    tags: [row.tag],
    security: [{ adminKey: [] }],
    operationId: name.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary: row.summary,
    description: `Takes a key that may ${scopeOf[row.access] ?? "nothing"}.`,
    ...(parameters.length > 0 && { params: only(parameters) }),
    ...(fields.length > 0 && { [row.method === "GET" ? "querystring" : "body"]: only(fields) }),
    response: {
      200: {
        description: "It was carried out.",
        headers: everyAnswerHeaders,
        content: { "application/json": { schema: row.output } },
      },
      ...(fields.length > 0 && { 400: refusals.invalidRequest }),
      401: refusals.unauthorized,
      403: refusals.scopeTooSmall,
      404: refusals.notFound,
      ...(row.method !== "GET" && { 409: refusals.conflict }),
      ...(!hasNoBody(row) && { 413: refusals.payloadTooLarge, 415: refusals.unsupportedMediaType }),
      500: refusals.internal,
      503: refusals.unavailable,
    },
  };
}
