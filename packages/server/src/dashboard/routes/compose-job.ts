import type { DashboardReading } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { allowedModels } from "../../accounts/project-settings.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find-project.ts";
import { bodyParser } from "../parse-body.ts";

type OfProject = { Params: { projectId: string } };
const parseReading = bodyParser(
  Type.Object({ prompt: Type.String({ maxLength: 10_000 }), model: Type.Optional(Type.String({ maxLength: 200 })) }),
);

/** What helps to write a job before there is one. */
export function composeJobRoutes(app: FastifyInstance, deps: RouteDeps): void {
  // A prompt is too long for an address; nothing is written.
  app.post<OfProject>(
    "/projects/:projectId/reading",
    { config: { role: "viewer" } },
    async (request): Promise<DashboardReading> => {
      const project = await findProject(deps.pool, request.params.projectId);
      const { prompt, model } = parseReading(request.body);
      return deps.readPrompt(model ?? allowedModels(project.settings, deps.defaultModel)[0], prompt);
    },
  );

  app.get<OfProject>("/projects/:projectId/suggestions", async (request) => {
    const { id } = await findProject(deps.pool, request.params.projectId);
    return { suggestions: await deps.suggestions(id) };
  });
}
