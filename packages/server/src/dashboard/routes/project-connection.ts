import { acquireForResponse, createKeyedSemaphore } from "@emend/base/locks.ts";
import {
  type DashboardContextRepository,
  type DashboardModels,
  type DashboardModelTrial,
  forgeNames,
  modelVendorNames,
} from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import {
  type ContextRepository,
  listContextRepositories,
  removeContextRepository,
} from "../../accounts/projects/context-repositories.ts";
import { asActor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import type { Diagnosis } from "../project-admin.ts";
import { actorOf, subjectOf } from "../require-session.ts";

type Identified = { Params: { id: string } };
const Secret = Type.String({ minLength: 1, maxLength: 20_000 });
const parseCredential = bodyParser(Type.Object({ credential: Secret }));
/** `follow`: the URL that the forge reports. */
const parseRepository = bodyParser(
  Type.Object({
    repo: Type.String({ minLength: 1, maxLength: 1000 }),
    /** Replaces the token. Required if the new URL is on another server. */
    credential: Type.Optional(Secret),
  }),
);
const parseModelKey = bodyParser(
  Type.Object({
    vendor: Type.Enum(modelVendorNames),
    /** Null removes it. */
    key: Type.Union([Type.String({ minLength: 1, maxLength: 4096, pattern: "^[\\x21-\\x7e]+$" }), Type.Null()]),
  }),
);

const parseTrial = bodyParser(
  Type.Object({
    model: Type.String({ minLength: 1, maxLength: 200 }),
    key: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, pattern: "^[\\x21-\\x7e]+$" })),
  }),
);
/** Each asks a vendor, which may cost a fraction of a cent. */
const trialBounds = { perHolderMax: 1, allMax: 4 };

/** How a project reaches its forge and models. Stored secrets are never shown. */
export function projectConnectionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  // Requires write access although it changes nothing: the response contains the forge webhook's secret.
  app.post<Identified>("/projects/:id/diagnosis", async (request): Promise<Diagnosis> => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { checks, webhook } = await deps.projectAdmin.diagnose(id);
    return { checks, webhook };
  });

  app.post<Identified>("/projects/:id/credential", async (request) => {
    const project = await findProject(deps.pool, request.params.id);
    await deps.projectAdmin.setCredential(project, parseCredential(request.body).credential, actorOf(request));
    return {};
  });

  app.post<Identified>("/projects/:id/repository", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { repositoryUrl } = await deps.projectAdmin.move(id, parseRepository(request.body), actorOf(request));
    return { repositoryUrl };
  });

  app.get<Identified>(
    "/projects/:id/models",
    async (request): Promise<DashboardModels> =>
      deps.projectAdmin.describeModels(await findProject(deps.pool, request.params.id)),
  );

  const trials = createKeyedSemaphore(trialBounds);
  app.post<Identified>("/projects/:id/models/test", async (request, reply): Promise<DashboardModelTrial> => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { model, key = null } = parseTrial(request.body);
    if (model.startsWith("runner/"))
      throw new AppError("invalid_request", { publicMessage: "Only models are tested." });
    if (!acquireForResponse(trials, subjectOf(request), reply.raw)()) {
      throw new AppError("rate_limited", {
        publicMessage: "A test is running. Wait for its result.",
        retryAfterMs: 1_000,
      });
    }
    return deps.projectAdmin.tryModel(id, { model, key });
  });

  app.post<Identified>("/projects/:id/model-keys", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    await deps.projectAdmin.setModelKey({ ...parseModelKey(request.body), projectId: id }, actorOf(request));
    return {};
  });
}

type IdentifiedContext = { Params: { id: string } };
const Name = Type.String({ minLength: 1, maxLength: 63 });
const parseNew = bodyParser(
  Type.Object({
    name: Name,
    forge: Type.Enum(forgeNames),
    repo: Type.String({ minLength: 1, maxLength: 1000 }),
    base: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    credential: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000 })),
  }),
);
const parseRemoval = bodyParser(Type.Object({ name: Name }));

/** Repositories that a project's jobs may read but not write. */
export function projectContextRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get<IdentifiedContext>("/projects/:id/context", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    return { repositories: (await listContextRepositories(deps.pool, id)).map(show) };
  });

  app.post<IdentifiedContext>("/projects/:id/context", async (request, reply) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const input = { ...parseNew(request.body), projectId: id };
    const repository = await deps.projectAdmin.addContext(input, actorOf(request));
    return reply.code(201).send(show(repository));
  });

  app.post<IdentifiedContext>("/projects/:id/context/remove", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { name } = parseRemoval(request.body);
    if (await removeContextRepository(asActor(deps.pool, actorOf(request)), { projectId: id, name })) return {};
    throw new AppError("not_found", { publicMessage: "Context repository not found." });
  });
}

function show({ name, forge, repositoryUrl, baseRef, hasCredential }: ContextRepository): DashboardContextRepository {
  return { name, forge, repositoryUrl, baseRef, hasCredential };
}
