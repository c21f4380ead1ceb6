import { AutomationTrigger } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import { actorOf, subjectOf } from "../require-session.ts";

type Identified = { Params: { id: string } };

/** `automations/` validates times, patterns and variables. */
const Text = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  prompt: Type.String({ minLength: 1, maxLength: 20_000 }),
  model: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()])),
  trigger: AutomationTrigger,
});
const parseNew = bodyParser(Text);
const parsePreset = bodyParser(
  Type.Object({
    preset: Type.String({ maxLength: 100 }),
    repository: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  }),
);
const parseEdit = bodyParser(Type.Partial(Text));

export function automationRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { automations } = deps;

  app.get<Identified>("/projects/:id/automations", async (request) => {
    const { id } = await findProject(deps.pool, request.params.id);
    return { automations: await automations.list(id), presets: await automations.presets(id) };
  });

  app.post<Identified>("/projects/:id/automations", async (request, reply) => {
    const { id } = await findProject(deps.pool, request.params.id);
    if (Object.hasOwn((request.body ?? {}) as object, "preset")) {
      const asked = { ...parsePreset(request.body), projectId: id, createdBy: subjectOf(request) };
      return reply.code(201).send(await automations.addPreset(asked, actorOf(request)));
    }
    const input = { ...parseNew(request.body), projectId: id, createdBy: subjectOf(request) };
    return reply.code(201).send(await automations.add(input, actorOf(request)));
  });

  app.get<Identified>("/automations/:id", async (request) => {
    const { automation, runs } = await automations.show(request.params.id);
    return { automation, runs };
  });

  app.patch<Identified>("/automations/:id", async (request) =>
    automations.edit(request.params.id, parseEdit(request.body), actorOf(request)),
  );
  app.post<Identified>("/automations/:id/run", async (request) => automations.run(request.params.id));
  app.post<Identified>("/automations/:id/pause", async (request) =>
    automations.pause(request.params.id, actorOf(request)),
  );
  app.post<Identified>("/automations/:id/resume", async (request) =>
    automations.resume(request.params.id, actorOf(request)),
  );
  app.post<Identified>("/automations/:id/remove", async (request) => {
    await automations.remove(request.params.id, actorOf(request));
    return {};
  });
}
