import type { DashboardProject } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { listProjects } from "../../accounts/list-projects.ts";
import type { Project } from "../../accounts/project.ts";
import { allowedModels } from "../../accounts/project-settings.ts";
import { updateProject } from "../../accounts/update-project.ts";
import { countCreates } from "../count-creates.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find-project.ts";
import { bodyParser } from "../parse-body.ts";

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Folder = Type.String({ maxLength: 1000 });
const Branch = Type.String({ minLength: 1, maxLength: 200 });
const parseNew = bodyParser(
  Type.Object({ name: Name, baseRef: Type.Optional(Branch), docsDir: Type.Optional(Folder) }),
);
/** Which settings there are, and what each may be, `accounts/project-settings.ts` knows. */
const parseEdit = bodyParser(
  Type.Object({
    name: Type.Optional(Name),
    baseRef: Type.Optional(Type.Union([Branch, Type.Null()])),
    docsDir: Type.Optional(Folder),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
);

export function projectRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get("/projects", async () => {
    const [projects, creates] = await Promise.all([listProjects(deps.pool), countCreates(deps.pool)]);
    return { projects: projects.map((project) => show(project, creates)) };
  });

  app.post("/projects", async (request, reply) => {
    const { name, baseRef, docsDir } = parseNew(request.body);
    const { id } = await deps.addLocalProject({ name, ...(baseRef && { base: baseRef }), ...(docsDir && { docsDir }) });
    return reply.code(201).send(show(await findProject(deps.pool, id)));
  });

  app.patch<{ Params: { id: string } }>("/projects/:id", async (request) => {
    const project = await findProject(deps.pool, request.params.id);
    const edited = await updateProject(deps.pool, project.id, parseEdit(request.body));
    return show(edited, await countCreates(deps.pool));
  });

  function show(project: Project, creates: ReadonlyMap<string, number> = new Map()): DashboardProject {
    const { id, name, forge, repositoryUrl, baseRef, docsDir, settings } = project;
    const { model, createsPerHourMax, lanes, draft, branchPrefix, limits } = settings;
    return {
      id,
      name,
      forge,
      repositoryUrl,
      baseRef,
      docsDir,
      createdAt: project.createdAt.toISOString(),
      models: allowedModels(settings, deps.defaultModel),
      settings: {
        model,
        createsPerHourMax,
        lanes,
        draft,
        branchPrefix,
        limits: { stepsMax: limits.stepsMax, costUsdMax: limits.costUsdMax, wallTimeMsMax: limits.wallTimeMsMax },
      },
      createsThisHour: creates.get(id) ?? 0,
      pullsUrl: forge === "local" ? `${deps.publicUrl()}/forge/${id}/pulls` : null,
    };
  }
}
