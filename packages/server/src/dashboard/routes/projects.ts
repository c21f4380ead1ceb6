import { type DashboardProjectPage, forgeNames } from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { listAllowedConstructs, removeAllowedConstruct } from "../../accounts/projects/allowed-constructs.ts";
import { listProjectPage, type Project } from "../../accounts/projects/projects.ts";
import { updateProject } from "../../accounts/projects/save-project.ts";
import { asActor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { countCreates, findProject, showProject } from "../find.ts";
import { bodyParser, parseProjectFilter } from "../parse-request.ts";
import { removeProject } from "../project-admin.ts";
import { actorOf, currentSession } from "../require-session.ts";

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Folder = Type.String({ maxLength: 1000 });
const Branch = Type.String({ minLength: 1, maxLength: 200 });
const parseNew = bodyParser(
  Type.Object({
    name: Name,
    forge: Type.Enum(forgeNames),
    repo: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
    baseRef: Type.Optional(Branch),
    docsDir: Type.Optional(Folder),
    credential: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000 })),
    /** Uses the credential of this project or new GitHub App instead. */
    from: Type.Optional(Type.String({ pattern: "^[0-9A-Za-z_-]{1,64}$" })),
  }),
);
/** `accounts/projects/project-settings.ts` validates the settings. */
const parseEdit = bodyParser(
  Type.Object({
    name: Type.Optional(Name),
    baseRef: Type.Optional(Type.Union([Branch, Type.Null()])),
    docsDir: Type.Optional(Folder),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
);

/** The name must be typed, because a click is too easy. */
const parseConstruct = bodyParser(Type.Object({ key: Type.String({ maxLength: 2000 }) }));
const parseRemoval = bodyParser(Type.Object({ name: Type.String({ maxLength: 1000 }) }));

export function projectRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/projects", async (request): Promise<DashboardProjectPage> => {
    const filter = parseProjectFilter(request.query as Record<string, unknown>);
    const { projects, nextCursor } = await listProjectPage(deps.pool, filter);
    const creates = await countCreates(
      deps.pool,
      projects.map(({ id }) => id),
    );
    return { projects: projects.map((project) => showProject(deps, project, creates)), nextCursor };
  });

  app.post("/projects", async (request, reply) => {
    const { name, forge, repo, baseRef, docsDir, credential, from } = parseNew(request.body);
    const shared = { name, forge, ...(baseRef && { base: baseRef }), ...(docsDir && { docsDir }) };
    // A local project cannot be imported from a path here: files on the server's disk are only for the console.
    const access = from ? { from } : credential ? { credential } : {};
    const input = forge === "local" ? shared : { ...shared, ...(repo && { repo }), ...access };
    const { id, notice } = await deps.projectAdmin.add(input, actorOf(request));
    // Starts a site check, so that its health is known soon. Without a worker, it runs later.
    await deps.askSiteCheck(id).catch((err) => deps.log.warn({ err, projectId: id }, "site check not asked for"));
    const shown = showProject(deps, await findProject(deps.pool, id), new Map());
    return reply.code(201).send({ ...shown, ...(notice !== undefined && { notice }) });
  });

  app.patch<{ Params: { id: string } }>("/projects/:id", async (request) => {
    const project = await findProject(deps.pool, request.params.id);
    const edit = parseEdit(request.body);
    requireOwnerForBuild(request, project, edit.settings?.build);
    const edited = await updateProject(deps.pool, project.id, edit, actorOf(request));
    return showProject(deps, edited, await countCreates(deps.pool, [edited.id]));
  });

  app.get<{ Params: { id: string } }>("/projects/:id/allowed-constructs", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    return listAllowedConstructs(deps.pool, id);
  });

  app.post<{ Params: { id: string } }>("/projects/:id/allowed-constructs/remove", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    const { key } = parseConstruct(request.body);
    if (await removeAllowedConstruct(asActor(deps.pool, actorOf(request)), id, key)) return {};
    throw new AppError("not_found", { publicMessage: "This is not allowed on the project's site." });
  });

  app.post<{ Params: { id: string } }>("/projects/:id/remove", { config: { role: "owner" } }, async (request) => {
    const project = await findProject(deps.pool, request.params.id);
    if (parseRemoval(request.body).name !== project.name) {
      throw new AppError("invalid_request", {
        publicMessage: "That is not the project's name, so nothing was removed.",
      });
    }
    await removeProject(deps.pool, project, actorOf(request));
    return {};
  });
}

/** A build runs commands on the server, so only an owner changes how. A form may send the values that are set. */
function requireOwnerForBuild(request: FastifyRequest, project: Project, wanted: unknown): void {
  const before: Readonly<Record<string, unknown>> = project.settings.build;
  const isChanged = Object.entries(wanted ?? {}).some(([name, value]) => before[name] !== value);
  const { role } = currentSession(request);
  if (!isChanged || role === "owner") return;
  throw new AppError("forbidden", {
    publicMessage: `Only an owner changes how the site is built, and your role is ${role}. Ask an owner, or leave these settings as they are.`,
  });
}
