import { type DashboardContextRepository, forgeNames } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { ContextRepository } from "../../accounts/context-repository.ts";
import { listContextRepositories } from "../../accounts/list-context-repositories.ts";
import { removeContextRepository } from "../../accounts/remove-context-repository.ts";
import { asActor } from "../../db/acting.ts";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find-project.ts";
import { bodyParser } from "../parse-body.ts";
import { actorOf } from "../require-session.ts";

type Identified = { Params: { id: string } };
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

/** Repositories that a project's jobs may read and never write. */
export function projectContextRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get<Identified>("/projects/:id/context", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    return { repositories: (await listContextRepositories(deps.pool, id)).map(show) };
  });

  app.post<Identified>("/projects/:id/context", async (request, reply) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const input = { ...parseNew(request.body), projectId: id };
    const repository = await deps.projectAdmin.addContext(input, actorOf(request));
    return reply.code(201).send(show(repository));
  });

  app.post<Identified>("/projects/:id/context/remove", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { name } = parseRemoval(request.body);
    if (await removeContextRepository(asActor(deps.pool, actorOf(request)), { projectId: id, name })) return {};
    throw new AppError("not_found", { publicMessage: "Context repository not found." });
  });
}

function show({ name, forge, repositoryUrl, baseRef, hasCredential }: ContextRepository): DashboardContextRepository {
  return { name, forge, repositoryUrl, baseRef, hasCredential };
}
