// Jobs as tasks (io.modelcontextprotocol/tasks, SEP-2663): a client that knows them polls by itself, and asks its person
// what a job asks. A task is the job: nothing else is stored, so any node can answer.

import { createHash } from "node:crypto";
import { EmendError } from "@emend/sdk";
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { MissingRequiredClientCapabilityError, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answered, type ToolDeps } from "./tool-call.ts";

const extension = "io.modelcontextprotocol/tasks";
const pollIntervalMs = 5000;
const Question = z.object({ question: z.string(), options: z.array(z.string()) });
const Approval = z.object({ message: z.string(), until: z.string() });
const described = z.object({
  job: z.object({ id: z.string(), status: z.string(), createdAt: z.string() }),
  phase: z.string().nullable(),
  question: Question.nullable(),
  approval: Approval.nullable(),
  failure: z.object({ code: z.string() }).nullable(),
});
const TaskParams = z.looseObject({ taskId: z.string() });
const Answers = z.record(z.string(), z.looseObject({ action: z.string(), content: z.looseObject({}).optional() }));

/** `describe` is what get_job returns. */
export function registerTasks(
  server: McpServer,
  deps: ToolDeps,
  describe: (projectId: string, id: string, signal: AbortSignal) => Promise<object>,
): void {
  server.server.registerCapabilities({ extensions: { [extension]: {} } });
  const read = (taskId: string, signal: AbortSignal) => {
    const { projectId, id } = namesIn(taskId);
    return orInvalid(() => describe(projectId, id, signal));
  };

  server.server.setRequestHandler("tasks/get", { params: TaskParams }, async ({ taskId }, { mcpReq }) => {
    requireTasks(mcpReq);
    const result = await answered(() => read(taskId, mcpReq.signal));
    return { ...taskOf(taskId, result, capabilities(mcpReq).elicitation !== undefined) };
  });
  server.server.setRequestHandler("tasks/update", { params: TaskParams }, async ({ taskId, ...rest }, { mcpReq }) => {
    requireTasks(mcpReq);
    const { projectId, id } = namesIn(taskId);
    const { question: asked, approval } = described.parse(await read(taskId, mcpReq.signal));
    const answers = Answers.safeParse(mcpReq.inputResponses ?? rest.inputResponses).data ?? {};
    if (approval) {
      const { action, content } = answers[keyOf(approval)] ?? {};
      const place = action === "accept" ? decisions.findIndex((one) => content?.answer === one) : -1;
      const { signal } = mcpReq;
      if (place === 2) await orInvalid(() => deps.jobs(projectId).decline(id, { signal }));
      else if (place >= 0) await orInvalid(() => deps.jobs(projectId).approve(id, { remember: place === 1, signal }));
      return {};
    }
    const answer = asked && answers[keyOf(asked)];
    // An answer to another question, or a second one, changes nothing.
    if (!answer) return {};
    const said = answer.action === "accept" ? String(answer.content?.answer ?? "") : "";
    const prompt = said || "I have no answer to your question. Continue without one.";
    await orInvalid(() => deps.jobs(projectId).message(id, { prompt }, { signal: mcpReq.signal }));
    return {};
  });
  server.server.setRequestHandler("tasks/cancel", { params: TaskParams }, async ({ taskId }, { mcpReq }) => {
    requireTasks(mcpReq);
    const { projectId, id } = namesIn(taskId);
    await orInvalid(() => deps.jobs(projectId).cancel(id, { signal: mcpReq.signal }));
    return {};
  });
}

/** The result of a tool that starts work: also a task, for a client that knows tasks, while the job goes on. */
export async function orTask(
  { mcpReq }: ServerContext,
  projectId: () => Promise<string>,
  result: CallToolResult,
): Promise<CallToolResult> {
  const job = described.safeParse(result.structuredContent).data?.job;
  if (job?.status !== "active" || capabilities(mcpReq).extensions?.[extension] === undefined) return result;
  const { taskId, status, ...rest } = taskOf(`${await projectId()}.${job.id}`, result, true);
  const { inputRequests: _, ...base } = rest as { inputRequests?: unknown };
  return { ...result, ...base, taskId, status, resultType: "task" };
}

interface Task {
  taskId: string;
  status: string;
  [field: string]: unknown;
}

function taskOf(taskId: string, result: CallToolResult, mayAsk: boolean): Task {
  const { job, phase, failure, approval, ...asked } = described.parse(result.structuredContent);
  const question = approval ? askedFor(approval) : asked.question;
  const base = {
    taskId,
    createdAt: job.createdAt,
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: null,
    pollIntervalMs,
  };
  if (job.status !== "active") {
    if (failure?.code === "cancelled") return { ...base, status: "cancelled" };
    // A job that failed is a result: "failed" is for errors of the protocol.
    return { ...base, status: "completed", result: { ...result, resultType: "complete", isError: failure !== null } };
  }
  if (question === null) return { ...base, status: "working", ...(phase && { statusMessage: phase }) };
  const statusMessage = question.question;
  const tool = approval ? "answer_approval" : "follow_up";
  if (!mayAsk) return { ...base, status: "working", statusMessage: `Answer with ${tool}: ${statusMessage}` };
  return {
    ...base,
    status: "input_required",
    statusMessage,
    inputRequests: { [keyOf(approval ?? question)]: formOf(question, approval !== null) },
  };
}

const decisions = ["Publish", "Publish and allow here", "Don't publish"] as const;

function askedFor({ message }: z.infer<typeof Approval>): z.infer<typeof Question> {
  return { question: message, options: [...decisions] };
}

function formOf({ question, options }: z.infer<typeof Question>, isChoice: boolean): object {
  const description = options.length > 0 ? `For example: ${options.join(", ")}` : "Your answer";
  const answer = { type: "string", title: "Answer", ...(isChoice ? { enum: options } : { description }) };
  const requestedSchema = { type: "object", properties: { answer }, required: ["answer"] };
  return { method: "elicitation/create", params: { mode: "form", message: question, requestedSchema } };
}

/** The same question has the same key, so that a client asks its person once. */
function keyOf(asked: z.infer<typeof Question> | z.infer<typeof Approval>): string {
  const words = "until" in asked ? `${asked.message} ${asked.until}` : asked.question;
  return `question-${createHash("sha256").update(words).digest("base64url")}`;
}

function namesIn(taskId: string): { projectId: string; id: string } {
  const [, projectId, id] = /^([\w-]{1,64})\.([\w-]{1,64})$/.exec(taskId) ?? [];
  if (projectId && id) return { projectId, id };
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown task.");
}

/** What Emend refuses is an error of the protocol here, because there is no tool to return it. */
async function orInvalid<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error) => {
    if (!(error instanceof EmendError)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  });
}

interface Capabilities {
  extensions?: Record<string, unknown>;
  elicitation?: unknown;
}

/** The extension: a server refuses its methods to clients that did not say they know it. */
function requireTasks(request: ServerContext["mcpReq"]): void {
  if (capabilities(request).extensions?.[extension] !== undefined) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [extension]: {} } } });
}

/** Of this request: the protocol of 2026-07-28 repeats them. Older clients know no such tasks. */
function capabilities(request: ServerContext["mcpReq"]): Capabilities {
  const { envelope } = request as { envelope?: Record<string, unknown> };
  return (envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {}) as Capabilities;
}
