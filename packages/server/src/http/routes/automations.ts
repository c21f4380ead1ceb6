import {
  AutomationTrigger,
  CreateAutomationBody,
  createAutomationOperation,
  EditAutomationBody,
  editAutomationOperation,
  listAutomationsOperation,
  removeAutomationOperation,
  runAutomationOperation,
  type Automation as WireAutomation,
} from "@emend/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Compile } from "typebox/compile";
import type { Automation, AutomationRun } from "../../automations/automation.ts";
import type { Automations } from "../../automations/automation-store.ts";
import type { Actor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { leaveBodiesUnread, takeBody } from "../request-body.ts";
import { type RequireKeyDeps, requireKey } from "../require-key.ts";
import { sendJson } from "../send-json.ts";

type OfProject = { Params: { projectId: string } };
type Identified = { Params: { projectId: string; id: string } };

/** What starts jobs by itself, for programs with an API key. */
export function automationRoutes(app: FastifyInstance, deps: RequireKeyDeps & { automations: Automations }): void {
  const { automations } = deps;
  const reads = requireKey(deps, { scope: "read" });
  const writes = requireKey(deps, { scope: "write" });
  const path = "/v2/agent/:projectId/automations";

  /** One of another project is not there at all. */
  async function own({ projectId, id }: Identified["Params"]): Promise<Automation> {
    const { automation } = await automations.show(id);
    if (automation.projectId === projectId) return automation;
    throw new AppError("not_found", { publicMessage: `automation not found: ${id.slice(0, 64)}` });
  }

  app.get<OfProject>(path, { schema: listAutomationsOperation, onRequest: reads }, async ({ params }, reply) => {
    const found = await automations.list(params.projectId);
    return sendJson(reply, JSON.stringify({ automations: found.map(toWire) }));
  });
  app.post<OfProject>(
    path,
    { schema: createAutomationOperation, onRequest: writes, preParsing: takeBody },
    async (request, reply) => {
      const { projectId } = request.params;
      const { preset, repository, ...given } = parseNew(request.body);
      const input = { ...given, projectId, createdBy: actorOf(request).name };
      if (preset !== undefined) {
        const added = await automations.addPreset({ ...input, preset, repository }, actorOf(request));
        return sendJson(reply.code(201), JSON.stringify(toWire(added)));
      }
      const { name, prompt, trigger = { kind: "manual" as const } } = given;
      if (name === undefined || prompt === undefined) throw invalid("name and prompt are required without a preset.");
      const added = await automations.add({ ...input, name, prompt, trigger }, actorOf(request));
      return sendJson(reply.code(201), JSON.stringify(toWire(added)));
    },
  );
  app.patch<Identified>(
    `${path}/:id`,
    { schema: editAutomationOperation, onRequest: writes, preParsing: takeBody },
    async (request, reply) => {
      const { id } = await own(request.params);
      const { paused, ...edit } = parseEdit(request.body);
      let now = await automations.edit(id, edit, actorOf(request));
      if (paused !== undefined) now = await automations[paused ? "pause" : "resume"](id, actorOf(request));
      return sendJson(reply, JSON.stringify(toWire(now)));
    },
  );
  app.register(async (scope) => {
    leaveBodiesUnread(scope);
    scope.post<Identified>(
      `${path}/:id/run`,
      { schema: runAutomationOperation, onRequest: writes },
      async ({ params }, reply) => {
        const { id } = await own(params);
        return sendJson(reply, JSON.stringify(toWireRun(await automations.run(id))));
      },
    );
    scope.delete<Identified>(
      `${path}/:id`,
      { schema: removeAutomationOperation, onRequest: writes },
      async (request, reply) => {
        const automation = await own(request.params);
        await automations.remove(automation.id, actorOf(request));
        return sendJson(reply, JSON.stringify(toWire(automation)));
      },
    );
  });
}

function actorOf(request: FastifyRequest): Actor {
  return { name: `key/${request.grant?.keyId}`, address: request.ip };
}

function toWire({ id, name, trigger, prompt, model, pausedAt, problem, jobId, createdAt }: Automation): WireAutomation {
  return {
    id,
    name,
    trigger: trigger as WireAutomation["trigger"],
    prompt,
    model,
    paused: pausedAt !== null,
    problem,
    jobId,
    createdAt: new Date(createdAt).toISOString(),
  };
}

function toWireRun({ id, state, words, jobId }: AutomationRun) {
  return { id, state, words, jobId };
}

const newShape = Compile(CreateAutomationBody);
const editShape = Compile(EditAutomationBody);
const triggerShape = Compile(AutomationTrigger);

function parseNew(body: unknown): CreateAutomationBody {
  assertShape(newShape.Check(body), body);
  const { name, trigger, prompt, model, preset, repository } = body as CreateAutomationBody;
  return withoutAbsent({ name, trigger, prompt, model, preset, repository });
}

function parseEdit(body: unknown): EditAutomationBody {
  assertShape(editShape.Check(body), body);
  const { name, trigger, prompt, model, paused } = body as EditAutomationBody;
  return withoutAbsent({ name, trigger, prompt, model, paused });
}

/** The trigger is checked by itself: the document refers to it by name, which a checker cannot follow. */
function assertShape(isShape: boolean, body: unknown): void {
  if (!isShape) throw invalid("The body is not an automation. See /reference for its fields.");
  const { trigger } = body as { trigger?: unknown };
  if (trigger !== undefined && !triggerShape.Check(trigger)) {
    throw invalid("trigger must have a kind (manual, cron, push or pull_request) and the fields of that kind.");
  }
  const texts = Object.values(body as object).filter((value) => typeof value === "string");
  if (texts.some((text: string) => text.includes("\0") || !text.isWellFormed())) {
    throw invalid("A text contains invalid characters.");
  }
}

function withoutAbsent<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
