import type { Logger } from "@emend/base/logger.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { throttledAddress } from "../accounts/addresses.ts";
import {
  createDirectoryGroup,
  type DirectoryGroup,
  deleteDirectoryGroup,
  getDirectoryGroup,
  groupFilters,
  listDirectoryGroups,
  patchDirectoryGroup,
  replaceDirectoryGroup,
} from "../accounts/directory/directory-groups.ts";
import type { Page, PageAsked } from "../accounts/directory/directory-page.ts";
import { findDirectoryToken } from "../accounts/directory/directory-tokens.ts";
import {
  attributesOf,
  createDirectoryUser,
  type DirectoryUser,
  deleteDirectoryUser,
  getDirectoryUser,
  listDirectoryUsers,
  patchDirectoryUser,
  replaceDirectoryUser,
  userFilters,
} from "../accounts/directory/directory-users.ts";
import { ScimFault } from "../accounts/directory/scim-fault.ts";
import { parseFilter } from "../accounts/directory/scim-path.ts";
import { countMax, resourceTypes, schemas, serviceProviderConfig, urns } from "../accounts/directory/scim-schemas.ts";
import { createFailureThrottle } from "../accounts/keys/keyring.ts";
import type { Pool } from "../db/pool.ts";
import type { Actor } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import { createErrorHandler, errorStatus, type Refusal } from "./errors.ts";
import { leaveBodiesUnread, readJsonBodies } from "./request-body.ts";

export interface ScimDeps {
  pool: Pool;
  log: Logger;
  publicUrl(): string;
  /** Of one token, on this node. */
  requestsPerMinuteMax?: number;
}

const prefix = "/scim/v2";
const mediaType = "application/scim+json";
const windowMs = 60_000;
const throttled = { windowMs, addressesMax: 10_000, now: () => performance.now() };

/** SCIM 2.0 (RFC 7643, RFC 7644): an identity provider keeps people and groups here. */
export function scimPlugin(deps: ScimDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.register(
      async (scope) => {
        scope.removeAllContentTypeParsers();
        readJsonBodies(scope, [mediaType, "application/json"]);
        scope.setErrorHandler(createErrorHandler(deps, sendFault));
        scope.addHook("onRequest", requireToken(deps));
        // Before a body is read or its type checked, which would be refused first. The types lack this hook.
        scope.setNotFoundHandler({ onRequest: refuseUnknown } as object, refuseUnknown);
        describingRoutes(scope, deps);
        userRoutes(scope, deps);
        groupRoutes(scope, deps);
      },
      { prefix },
    );
  };
}

const actors = new WeakMap<FastifyRequest, Actor>();

function actorOf(request: FastifyRequest): Actor {
  return actors.get(request) ?? { name: "directory", address: request.ip };
}

/** Before the body is read. Wrong tokens are throttled by address, requests by token. */
function requireToken({ pool, requestsPerMinuteMax = 3000 }: ScimDeps) {
  const failures = createFailureThrottle({ ...throttled, failuresMax: 30 });
  const requests = createFailureThrottle({ ...throttled, failuresMax: requestsPerMinuteMax });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.header("cache-control", "no-store");
    const address = throttledAddress(request.ip);
    const text = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
    const token = text === undefined ? null : await findDirectoryToken(pool, text);
    if (!token) {
      if (failures.isBlocked(address)) throw tooMany("Too many wrong tokens from this address. Try again in a minute.");
      failures.fail(address);
      reply.header("www-authenticate", "Bearer");
      throw new AppError("unauthorized", {
        publicMessage: "A valid directory token is required: Authorization: Bearer <token>.",
      });
    }
    if (requests.isBlocked(token.id)) throw tooMany("Too many requests with this token. Try again in a moment.");
    requests.fail(token.id);
    actors.set(request, { name: `directory/${token.id}`, address: request.ip });
  };
}

function tooMany(publicMessage: string): AppError {
  return new AppError("rate_limited", { publicMessage, retryAfterMs: 5_000 });
}

function sendFault(reply: FastifyReply, { code, message, headers }: Refusal, error: unknown): void {
  const status = errorStatus[code];
  if (headers) reply.headers(headers);
  const scimType =
    error instanceof ScimFault ? error.scimType : code === "invalid_request" ? "invalidSyntax" : undefined;
  send(reply.code(status), {
    schemas: [urns.error],
    status: String(status),
    ...(scimType && { scimType }),
    detail: message,
  });
}

function send(reply: FastifyReply, body: object): FastifyReply {
  return reply.header("content-type", `${mediaType}; charset=utf-8`).send(JSON.stringify(body));
}

async function refuseUnknown(): Promise<never> {
  throw new AppError("not_found", { publicMessage: "Not found. Emend has Users and Groups, without bulk and search." });
}

function describingRoutes(app: FastifyInstance, { publicUrl }: ScimDeps): void {
  const located = <T extends { id: string }>(folder: string, resourceType: string, each: T) => ({
    ...each,
    meta: { resourceType, location: `${publicUrl()}${prefix}/${folder}/${each.id}` },
  });
  const location = () => `${publicUrl()}${prefix}/ServiceProviderConfig`;
  app.get("/ServiceProviderConfig", async (_request, reply) =>
    send(reply, { ...serviceProviderConfig, meta: { resourceType: "ServiceProviderConfig", location: location() } }),
  );
  for (const [folder, resourceType, all] of [
    ["ResourceTypes", "ResourceType", resourceTypes],
    ["Schemas", "Schema", schemas],
  ] as const) {
    const list = () => all.map((each) => located(folder, resourceType, each));
    app.get(`/${folder}`, async (request, reply) => {
      // RFC 7644, section 4: a filter is refused here.
      if ("filter" in (request.query as object)) {
        throw new AppError("forbidden", { publicMessage: `${folder} can't be filtered. Leave the filter out.` });
      }
      return send(reply, { ...listOf(list(), all.length, 1) });
    });
    app.get<Identified>(`/${folder}/:id`, async (request, reply) => {
      const found = list().find(({ id }) => id === request.params.id);
      return found ? send(reply, found) : refuseUnknown();
    });
  }
}

type Identified = { Params: { id: string } };
type Asked = Readonly<Record<string, unknown>>;

function listOf(resources: readonly object[], totalResults: number, startIndex: number): object {
  return {
    schemas: [urns.list],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

interface Kind<T> {
  path: "/Users" | "/Groups";
  filters: readonly string[];
  list(pool: Pool, asked: PageAsked): Promise<Page<T>>;
  get(pool: Pool, id: string): Promise<T>;
  create(pool: Pool, body: unknown, actor: Actor): Promise<T>;
  replace(pool: Pool, input: { id: string; body: unknown }, actor: Actor): Promise<T>;
  patch(pool: Pool, input: { id: string; body: unknown }, actor: Actor): Promise<T>;
  remove(pool: Pool, id: string, actor: Actor): Promise<void>;
  /** Entra advises to answer a change of a group without its members. */
  isLong: boolean;
  /** As the standard writes it. */
  show(row: T): object;
}

function userRoutes(app: FastifyInstance, deps: ScimDeps): void {
  resourceRoutes<DirectoryUser>(app, deps, {
    path: "/Users",
    filters: userFilters,
    list: listDirectoryUsers,
    get: getDirectoryUser,
    create: createDirectoryUser,
    replace: replaceDirectoryUser,
    patch: patchDirectoryUser,
    remove: deleteDirectoryUser,
    isLong: false,
    show: (user) => ({ schemas: [urns.user], id: user.id, ...attributesOf(user), groups: user.groups }),
  });
}

function groupRoutes(app: FastifyInstance, deps: ScimDeps): void {
  resourceRoutes<DirectoryGroup>(app, deps, {
    path: "/Groups",
    filters: groupFilters,
    list: listDirectoryGroups,
    get: getDirectoryGroup,
    create: createDirectoryGroup,
    replace: replaceDirectoryGroup,
    patch: patchDirectoryGroup,
    remove: deleteDirectoryGroup,
    isLong: true,
    show: ({ id, displayName, externalId, members }) => ({
      schemas: [urns.group],
      id,
      displayName,
      ...(externalId !== null && { externalId }),
      members,
    }),
  });
}

function resourceRoutes<T extends { id: string; createdAt: Date; updatedAt: Date }>(
  app: FastifyInstance,
  { pool, publicUrl }: ScimDeps,
  kind: Kind<T>,
): void {
  const locationOf = (row: T) => `${publicUrl()}${prefix}${kind.path}/${row.id}`;
  const show = (row: T, query: unknown) => {
    const meta = {
      resourceType: kind.path.slice(1, -1),
      created: row.createdAt.toISOString(),
      lastModified: row.updatedAt.toISOString(),
      location: locationOf(row),
    };
    return chosenAttributes({ ...kind.show(row), meta }, query as Asked);
  };

  app.get(kind.path, async (request, reply) => {
    const asked = readPageAsked(request.query as Asked, kind.filters);
    const { rows, total } = await kind.list(pool, asked);
    const shown = rows.map((row) => show(row, request.query));
    return send(reply, listOf(shown, total, asked.startIndex));
  });
  app.post(kind.path, async (request, reply) => {
    const row = await kind.create(pool, request.body, actorOf(request));
    return send(reply.code(201).header("location", locationOf(row)), show(row, request.query));
  });
  app.get<Identified>(`${kind.path}/:id`, async (request, reply) =>
    send(reply, show(await kind.get(pool, idOf(request)), request.query)),
  );
  app.put<Identified>(`${kind.path}/:id`, async (request, reply) => {
    const row = await kind.replace(pool, { id: idOf(request), body: request.body }, actorOf(request));
    return send(reply, show(row, request.query));
  });
  app.patch<Identified>(`${kind.path}/:id`, async (request, reply) => {
    const row = await kind.patch(pool, { id: idOf(request), body: request.body }, actorOf(request));
    return kind.isLong ? reply.code(204).send() : send(reply, show(row, request.query));
  });
  // Providers send a content type here, without a body.
  app.register(async (bodiless) => {
    leaveBodiesUnread(bodiless);
    bodiless.delete<Identified>(`${kind.path}/:id`, async (request, reply) => {
      await kind.remove(pool, idOf(request), actorOf(request));
      return reply.code(204).send();
    });
  });
}

/** Ids have a safe form. The database refuses some other texts, such as U+0000. */
function idOf(request: FastifyRequest<Identified>): string {
  const { id } = request.params;
  if (/^\w{1,64}$/.test(id)) return id;
  throw new AppError("not_found", { publicMessage: "Not found." });
}

function readPageAsked(query: Asked, filters: readonly string[]): PageAsked {
  const { filter } = query;
  if (filter !== undefined && typeof filter !== "string") {
    throw new ScimFault("invalidFilter", "A request can have one filter.");
  }
  return {
    filter: filter === undefined ? null : parseFilter(filter, filters),
    startIndex: Math.max(1, readNumber("startIndex", query.startIndex) ?? 1),
    count: Math.min(countMax, Math.max(0, readNumber("count", query.count) ?? countMax)),
  };
}

function readNumber(name: string, value: unknown): number | null {
  if (value === undefined || value === "") return null;
  if (typeof value === "string" && /^-?[0-9]{1,9}$/.test(value)) return Number(value);
  throw new ScimFault("invalidValue", `${name} must be a whole number.`);
}

/** `attributes` and `excludedAttributes` (RFC 7644, section 3.9), by whole attributes. */
function chosenAttributes(resource: object, { attributes, excludedAttributes }: Asked): object {
  const [wanted, unwanted] = [namesIn(attributes), namesIn(excludedAttributes)];
  if (wanted.length === 0 && unwanted.length === 0) return resource;
  const kept = Object.entries(resource).filter(([name]) => {
    const lower = name.toLowerCase();
    if (lower === "id" || lower === "schemas") return true;
    return wanted.length > 0 ? wanted.includes(lower) : !unwanted.includes(lower);
  });
  return Object.fromEntries(kept);
}

function namesIn(list: unknown): readonly string[] {
  if (typeof list !== "string") return [];
  const names = list.toLowerCase().split(",");
  return names
    .map((name) =>
      name
        .trim()
        .replace(/^urn:.*:/, "")
        .replace(/\..*$/, ""),
    )
    .filter((name) => name !== "");
}
