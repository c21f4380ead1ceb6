import type { PriceTable } from "@emend/agent";
import { describeMistake } from "@emend/base/describe-mistake.ts";
import { assertNever } from "@emend/base/fault.ts";
import { acquireForResponse, createKeyedSemaphore, type KeyedSemaphore } from "@emend/base/locks.ts";
import type { Logger } from "@emend/base/logger.ts";
import { ApproveJobBody } from "@emend/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Compile } from "typebox/compile";
import { allowedModels } from "../../accounts/projects/project-settings.ts";
import type { Project } from "../../accounts/projects/projects.ts";
import type { Pool, Queryable } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { AnnounceDue } from "../../jobs/announce.ts";
import {
  type ApprovalAnswer,
  type ApprovalOutcome,
  type ApprovalRefusal,
  answerApproval,
} from "../../jobs/answer-approval.ts";
import type { BudgetRefusal } from "../../jobs/budget.ts";
import { type CreateJobOutcome, createJob, scanNewPrompt } from "../../jobs/create-job.ts";
import { archiveJob, cancelJob, type JobActionOutcome, publishPreview, retryJob } from "../../jobs/job-actions.ts";
import { type MessageJobDeps, messageJob, messageQuota } from "../../jobs/message-job.ts";
import { diffJson, diffText, largeDiffs, openDiff } from "../../jobs/read/diff.ts";
import { followEvents, readEventPage } from "../../jobs/read/events.ts";
import type { JobReader } from "../../jobs/read/job-reader.ts";
import { attachUploads, promptWithUploads } from "../../jobs/uploads/uploads.ts";
import type { WireJob } from "../../jobs/wire-job.ts";
import { rememberCreatedJob } from "../../lib/id.ts";
import {
  aboutRequest,
  jobNotFound,
  jobPublishing,
  type Refusal,
  refuse,
  retryAfter,
  tooManyDiffs,
  tooManyStreams,
} from "../errors.ts";
import { disconnectSignal, openEventStream } from "../event-stream.ts";
import { newJobRules, parseCreateBody, parseIdempotencyKey, plansFirst, promptOf } from "../parse-create-body.ts";
import { rateLimitHeaders } from "../send-json.ts";

export interface JobName {
  id: string;
  projectId: string;
}

/**
 * How a caller was authenticated: with an API key or a browser session. The handlers are the same for both. The door's
 * own middleware has checked the permission.
 */
export interface Door {
  /** The caller's id, for limits. */
  holderOf(request: FastifyRequest): string;
  /** The caller for records: `key/…` or `user/…`. */
  authorOf(request: FastifyRequest): string;
  projectOf(request: FastifyRequest): Project | Promise<Project>;
  /** The job in the path. It need not exist. */
  jobOf(request: FastifyRequest): JobName | Promise<JobName>;
  /** False if the key was revoked or the session has ended. */
  isStillIn(request: FastifyRequest): Promise<boolean>;
  /** The last event that the reader has seen. */
  lastEventId(request: FastifyRequest): unknown;
  wantsJsonDiff(request: FastifyRequest): boolean;
  /** Responds after a change. */
  sendJob(reply: FastifyReply, job: WireJob, headers?: readonly string[]): FastifyReply;
}

interface CreateJobDeps {
  pool: Pool;
  announceDue: AnnounceDue;
  publicUrl(): string;
  defaultModel: string;
  promptCodePointsMax: number;
  /** The operator's words about models. */
  modelPrices?: PriceTable;
}

const keyReused: Refusal = {
  code: "conflict",
  message: "This Idempotency-Key was used with a different body. Use a new key.",
};

function overBudget({ words, renewsInMs }: BudgetRefusal): Refusal {
  return { code: "budget_exceeded", message: words, headers: retryAfter(renewsInMs) };
}

export function createJobHandler(deps: CreateJobDeps, door: Door) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const project = await door.projectOf(request);
    const models = allowedModels(project.settings, deps.defaultModel);
    const body = parseCreateBody(request.body, { promptCodePointsMax: deps.promptCodePointsMax, models });
    const rules = newJobRules(project, models[0]);
    const { files = [] } = body;
    const model = body.model ?? models[0];
    const about = { projectId: project.id, prompt: body.prompt, model, files };
    const asked = { projectId: project.id, ...(await promptWithUploads(deps.pool, about, deps.modelPrices)) };
    const outcome = await createWithUploads(deps, files, rules, {
      ...asked,
      kept: await scanNewPrompt(deps.pool, rules, asked),
      baseRef: body.baseRef ?? null,
      model: body.model ?? null,
      draft: body.draft ?? null,
      maxCostUsd: body.maxCostUsd ?? null,
      preview: body.preview ?? false,
      plan: plansFirst(body, project, model),
      unknown: body.unknown ?? null,
      createdBy: door.authorOf(request),
      idempotencyKey: parseIdempotencyKey(request.headers["idempotency-key"]),
    });
    if ("jobId" in outcome) rememberCreatedJob(request.raw, outcome.jobId);
    switch (outcome.kind) {
      case "conflict":
        return refuse(reply, keyReused);
      case "limited":
        return refuse(reply, {
          code: "rate_limited",
          message: `This project reached its limit of ${outcome.quota.usesMax} jobs per hour.`,
          headers: { ...rateLimitHeaders("create", outcome.quota), ...retryAfter(outcome.quota.freesInMs) },
        });
      case "over_budget":
        return refuse(reply, overBudget(outcome.refusal));
      case "replayed":
      case "created":
        if (outcome.kind === "replayed") reply.header("idempotent-replayed", "true");
        reply.code(201).headers(rateLimitHeaders("create", outcome.quota));
        reply.header("content-type", "application/json; charset=utf-8");
        reply.header("cache-control", "no-store");
        reply.header("location", `${deps.publicUrl()}/v2/agent/${project.id}/job/${outcome.jobId}`);
        return reply.send(outcome.body);
      default:
        return assertNever(outcome);
    }
  };
}

/** The job and what it names are stored together, or neither is. */
async function createWithUploads(
  deps: CreateJobDeps,
  files: readonly string[],
  ...[rules, input]: [Parameters<typeof createJob>[1], Parameters<typeof createJob>[2]]
): Promise<CreateJobOutcome> {
  if (files.length === 0) return createJob({ ...deps, db: deps.pool }, rules, input);
  const outcome = await inTransaction(deps.pool, async (db) => {
    // Announced below: before the commit, no worker would find it.
    const created = await createJob({ db, announceDue: () => {} }, rules, input);
    if (created.kind === "created") {
      await attachUploads(db, { id: created.jobId, projectId: input.projectId }, files);
    }
    return created;
  });
  if (outcome.kind === "created") deps.announceDue(input.projectId);
  return outcome;
}

const messageRefusals = {
  active: "The job is still active. Send this when it has ended.",
  archived: "The job is archived.",
  merged: "The job's pull request is merged; create a new job.",
  closed: "The job's pull request is closed; create a new job.",
};

export function messageJobHandler(
  deps: MessageJobDeps & { promptCodePointsMax: number },
  door: Door,
  /** `modelOf`: for a request that the job's own model cannot work on. */
  options: { onlyEnded?: boolean; modelOf?(request: FastifyRequest): Promise<string | undefined> } = {},
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const job = await door.jobOf(request);
    const { prompt, files = [] } = parseCreateBody(promptOf(request.body), {
      promptCodePointsMax: deps.promptCodePointsMax,
      models: [],
    });
    const outcome = await messageJob(deps, messageQuota, {
      ...job,
      prompt,
      files,
      createdBy: door.authorOf(request),
      idempotencyKey: parseIdempotencyKey(request.headers["idempotency-key"]),
      onlyEnded: options.onlyEnded ?? false,
      model: await options.modelOf?.(request),
    });
    switch (outcome.kind) {
      case "accepted":
      case "replayed": {
        const headers = rateLimitHeaders("message", outcome.quota);
        if (outcome.kind === "replayed") headers["idempotent-replayed"] = "true";
        return door.sendJob(reply, outcome.job, Object.entries(headers).flat());
      }
      case "conflict":
        return refuse(reply, keyReused);
      case "unknown_job":
        return refuse(reply, jobNotFound);
      case "refused":
        return refuse(reply, { code: "conflict", message: messageRefusals[outcome.because] });
      case "limited":
        return refuse(reply, {
          code: "rate_limited",
          message: `This project reached its limit of ${outcome.quota.usesMax} messages per hour.`,
          headers: { ...rateLimitHeaders("message", outcome.quota), ...retryAfter(outcome.quota.freesInMs) },
        });
      case "over_budget":
        return refuse(reply, overBudget(outcome.refusal));
      default:
        return assertNever(outcome);
    }
  };
}

interface JobActionDeps {
  pool: Pool;
  reader: JobReader;
  /** How long a response waits for the outcome of a publication. */
  publishingWaitMs?: number | undefined;
}

const publishingWaitMs = 30_000;

export const jobActions = {
  cancel: (deps, job, { by }) => cancelJob(deps, job, by),
  retry: (deps, job) => retryJob(deps, job),
  publish: (deps, job) => publishPreview(deps, job),
  archive: (deps, job, { signal }) =>
    archiveJob(deps, job, { waitMs: deps.publishingWaitMs ?? publishingWaitMs, signal }),
} satisfies Record<string, JobAction>;

type JobAction = (
  deps: JobActionDeps,
  job: JobName,
  asked: { by: string; signal: AbortSignal },
) => Promise<JobActionOutcome>;

const actionRefusals: Record<Extract<JobActionOutcome, { kind: "refused" }>["because"], string> = {
  completed: "The job is completed. There is nothing to retry.",
  archived: "The job is archived.",
  needs_follow_up: "Retrying would end the same way. Send a follow-up message, or create a new job.",
  contents_dropped: "The job's work is no longer stored. Create a new job.",
  not_a_preview: "The job is not a preview. Only previews can be published.",
  preview_active: "The preview is still active. Publish it when it is completed.",
  preview_failed: "The job failed. Retry it, or create a new job.",
  preview_unchanged: "The preview changed nothing, so there is nothing to publish.",
};

/** An action without a body: any body is left unread. */
export function jobActionHandler(action: keyof typeof jobActions, deps: JobActionDeps, door: Door) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const asked = { by: door.authorOf(request), signal: disconnectSignal(reply) };
    const outcome = await jobActions[action](deps, await door.jobOf(request), asked);
    switch (outcome.kind) {
      case "done":
        return door.sendJob(reply, outcome.job);
      case "unknown_job":
        return refuse(reply, jobNotFound);
      case "publishing":
        return refuse(reply, jobPublishing);
      case "refused":
        return refuse(reply, { code: "conflict", message: actionRefusals[outcome.because] });
      default:
        return assertNever(outcome);
    }
  };
}

const approvalRefusals: Record<ApprovalRefusal, string> = {
  not_asked: "The job does not wait for approval.",
  approved: "The change was already approved",
  declined: "The change was already declined",
  ended: "The job has ended. Nothing waits for approval.",
  archived: "The job is archived.",
  contents_dropped: "The job's work is no longer stored. Create a new job.",
};

function sayRefusal({ because, by }: Extract<ApprovalOutcome, { kind: "refused" }>): string {
  if (because !== "approved" && because !== "declined") return approvalRefusals[because];
  return `${approvalRefusals[because]}${by === undefined ? "" : ` by ${by.replace(/^user\//, "")}`}.`;
}

const approvalBody = Compile(ApproveJobBody);

/** A person's or a program's answer to the question about unknown constructs. */
export function answerApprovalHandler(
  answer: ApprovalAnswer["answer"],
  deps: Parameters<typeof answerApproval>[0],
  door: Door,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const body = answer === "approve" ? (request.body ?? {}) : {};
    if (!approvalBody.Check(body)) {
      const [mistake] = approvalBody.Errors(body);
      const words =
        mistake && mistake.instancePath !== "" ? describeMistake(mistake, []) : "The body must be an object";
      throw new AppError("invalid_request", { publicMessage: `${words}.` });
    }
    const by = door.authorOf(request);
    const actor = { name: by.replace(/^user\//, ""), address: request.ip };
    const given = { answer, remember: body.remember ?? false, by, actor };
    const outcome = await answerApproval(deps, await door.jobOf(request), given);
    switch (outcome.kind) {
      case "done":
        return door.sendJob(reply, outcome.job);
      case "unknown_job":
        return refuse(reply, jobNotFound);
      case "refused":
        return refuse(reply, { code: "conflict", message: sayRefusal(outcome) });
      default:
        return assertNever(outcome);
    }
  };
}

export function jobDiffHandler(deps: { db: Queryable }, door: Door) {
  const seats = createKeyedSemaphore(largeDiffs);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const job = await door.jobOf(request);
    const takeSeat = acquireForResponse(seats, door.holderOf(request), reply.raw);
    const opened = await openDiff(deps.db, job, takeSeat);
    if (opened.kind === "unknown_job") return refuse(reply, jobNotFound);
    if (opened.kind === "busy") return refuse(reply, tooManyDiffs);
    reply.header("vary", "accept").header("cache-control", "no-store");
    if (door.wantsJsonDiff(request)) {
      return reply.header("content-type", "application/json; charset=utf-8").send(diffJson(opened.deflated));
    }
    return reply.header("content-type", "text/x-diff; charset=utf-8").send(diffText(opened.deflated));
  };
}

export interface StreamTimes {
  /** A heartbeat comment is sent after this much silence. */
  heartbeatMs: number;
  /** A client that reads nothing for this long is disconnected. */
  stallMsMax: number;
  /** After this the client reconnects: streams spread over new nodes, and keys are checked again. */
  lifeMsMax: number;
}

export const streamTimes: StreamTimes = { heartbeatMs: 15_000, stallMsMax: 30_000, lifeMsMax: 3_600_000 };
const reconnectMs = 1_000;

interface JobEventsDeps {
  db: Queryable;
  reader: JobReader;
  log: Logger;
  times: StreamTimes;
  seats: KeyedSemaphore;
}

/** Streams a job's events, from the start or after the last one seen. */
export function jobEventsHandler(app: FastifyInstance, deps: JobEventsDeps, door: Door) {
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());

  async function stream(request: FastifyRequest, reply: FastifyReply, from: { id: string; afterSeq: number }) {
    const lifeEnd = AbortSignal.timeout(deps.times.lifeMsMax);
    const signal = AbortSignal.any([closing.signal, disconnectSignal(reply), lifeEnd]);
    const client = openEventStream(reply.raw, { reconnectMs, stallMsMax: deps.times.stallMsMax });
    if (request.method === "HEAD") return client.end();
    const follow = { afterSeq: from.afterSeq, idleMs: deps.times.heartbeatMs, signal };
    for await (const events of followEvents(deps, from.id, follow)) {
      // The key may be revoked or the session end while the stream is open.
      if (!(await door.isStillIn(request))) break;
      const isHeard = events.length > 0 ? await client.send(events) : await client.beat();
      if (!isHeard) return;
    }
    client.end();
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { id, projectId } = await door.jobOf(request);
    const afterSeq = parseSeq(door.lastEventId(request));
    if (afterSeq === null) {
      return refuse(reply, { code: "invalid_request", message: "Last-Event-ID is not from this stream." });
    }
    const job = await deps.reader.read(id);
    if (job?.projectId !== projectId) return refuse(reply, jobNotFound);
    const first = await readEventPage(deps.db, id, afterSeq);
    // A client reconnects after every end but this one.
    if (first.isLast && first.events.length === 0) return reply.code(204).header("cache-control", "no-store").send();
    const leave = deps.seats.take(door.holderOf(request));
    if (leave === null) return refuse(reply, tooManyStreams);
    reply.hijack();
    await stream(request, reply, { id, afterSeq })
      .catch((err) => {
        // The response has started, so no error can be sent: the client reconnects.
        deps.log.warn({ err, ...aboutRequest(request) }, "event stream ended early");
        reply.raw.destroy();
      })
      .finally(leave);
    return reply;
  };
}

/** 0: from the start. Null: not an event id. */
function parseSeq(seen: unknown): number | null {
  if (seen === undefined || seen === "") return 0;
  return typeof seen === "string" && /^[0-9]{1,9}$/.test(seen) ? Number(seen) : null;
}
