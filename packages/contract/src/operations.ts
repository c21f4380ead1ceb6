import { Type } from "typebox";
import { jobStatuses } from "./agent-job.ts";
import { emptyAnswer, jobAnswer, jsonAnswer, refusals } from "./answers.ts";
import { answerHeaders, everyAnswerHeaders, rateLimitHeaders } from "./headers.ts";
import { jobsPerPage, jobsPerPageMax } from "./job-list.ts";

const projectId = Type.String({ description: "The project identifier." });

const ProjectParams = Type.Object({ projectId });
const JobParams = Type.Object({
  projectId,
  id: Type.String({ description: "The unique identifier of the agent job." }),
});

/** Every job operation is tagged and asks for a key. */
const jobOperation = { tags: ["Agent jobs"], security: [{ adminKey: [] }] };

/** The longest wait that `Prefer: wait=N` is granted. */
export const waitSecondsMax = 55;

const headers = {
  ETag: answerHeaders.etag,
  "Retry-After": answerHeaders.pollAfter,
  "Preference-Applied": answerHeaders.preferenceApplied,
};

export const getJobOperation = {
  ...jobOperation,
  operationId: "getAgentJob",
  summary: "Get agent job",
  description: "Returns the job's current state. Poll it until `status` is `completed`, `archived` or `failed`.",
  params: JobParams,
  headers: Type.Object({
    "If-None-Match": Type.Optional(
      Type.String({ description: "An earlier `ETag`: 304 if the job has not changed since." }),
    ),
    Prefer: Type.Optional(
      Type.String({
        description: `\`wait=N\` holds the answer back for up to N seconds (${waitSecondsMax} at most): while the job is active, and with \`If-None-Match\` until it changes.`,
        examples: ["wait=30"],
      }),
    ),
  }),
  response: {
    200: jobAnswer("The job.", headers),
    304: emptyAnswer("The job has not changed.", headers),
    401: refusals.unauthorized,
    404: refusals.notFound,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const idempotencyKeyLengthMax = 255;

/** Of the operations that start work. */
const IdempotencyHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: idempotencyKeyLengthMax,
      description:
        "Makes a repeated request safe for 24 hours: the same key with the same body gives the first answer again, with another body 409. Bodies are the same when the fields that Emend reads are equal; white space, the order of fields and unknown fields do not matter.",
    }),
  ),
});

export const createJobOperation = {
  ...jobOperation,
  operationId: "createAgentJob",
  summary: "Create agent job",
  description: [
    "Starts a background agent job and answers at once. Follow it with the get operation.",
    "",
    "A project may create 100 jobs in any hour unless its settings say otherwise. Refused and replayed requests do not count.",
  ].join("\n"),
  params: ProjectParams,
  headers: IdempotencyHeaders,
  body: { $ref: "CreateJobBody#" },
  response: {
    201: jobAnswer("The job was created, or was created before with this idempotency key.", {
      Location: answerHeaders.location,
      ...rateLimitHeaders,
      "Idempotent-Replayed": answerHeaders.idempotentReplayed,
    }),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.idempotencyConflict,
    413: refusals.payloadTooLarge,
    415: refusals.unsupportedMediaType,
    429: refusals.rateLimited,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const listJobsOperation = {
  ...jobOperation,
  operationId: "listAgentJobs",
  summary: "List agent jobs",
  description: "The project's jobs, newest first, a page at a time.",
  params: ProjectParams,
  querystring: Type.Object({
    status: Type.Optional(Type.Enum(jobStatuses, { type: "string", description: "Only jobs in this state." })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: jobsPerPageMax, default: jobsPerPage, description: "Jobs a page." }),
    ),
    cursor: Type.Optional(
      Type.String({
        description: "The `nextCursor` of the page before, with the same `status`. Opaque; any other text is refused.",
      }),
    ),
  }),
  response: {
    200: jsonAnswer("A page of jobs.", "JobList"),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    404: refusals.notFound,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const messageJobOperation = {
  ...jobOperation,
  operationId: "messageAgentJob",
  summary: "Message agent job",
  description: [
    "Continues a final job with a further instruction, on the same branch and pull request. What people pushed to the",
    "branch since is taken in; what they push while the job works ends it with the code `branch_conflict`. The job is",
    "`active` again, with `prLink` null until it ends. A project may send 100 messages in any hour.",
  ].join(" "),
  params: JobParams,
  headers: IdempotencyHeaders,
  body: { $ref: "MessageJobBody#" },
  response: {
    200: jobAnswer("The job, active again; or the first answer again, where this idempotency key was used before.", {
      ETag: answerHeaders.etag,
      "Retry-After": answerHeaders.pollAfter,
      ...rateLimitHeaders,
      "Idempotent-Replayed": answerHeaders.idempotentReplayed,
    }),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.messageConflict,
    413: refusals.payloadTooLarge,
    415: refusals.unsupportedMediaType,
    429: refusals.rateLimited,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const cancelJobOperation = {
  ...jobOperation,
  operationId: "cancelAgentJob",
  summary: "Cancel agent job",
  description: [
    "Stops an active job: it becomes `failed`, with the code `cancelled` on its run, and opens no pull request",
    "afterwards. A final job is answered as it is. Once a job is being published it is too late: 409.",
    "A body is not needed and not read.",
  ].join(" "),
  params: JobParams,
  response: {
    200: jobAnswer("The job, final.", { ETag: answerHeaders.etag }),
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.publishing,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const archiveJobOperation = {
  ...jobOperation,
  operationId: "archiveAgentJob",
  summary: "Archive agent job",
  description: [
    "Archives a job; archiving it again changes nothing. An active job is stopped first and opens no pull request",
    "afterwards. If it is being published already, the answer waits for that outcome, for up to 30 seconds.",
    "A body is not needed and not read.",
  ].join(" "),
  params: JobParams,
  response: {
    200: jobAnswer("The archived job.", { ETag: answerHeaders.etag }),
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.publishing,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const retryJobOperation = {
  ...jobOperation,
  operationId: "retryAgentJob",
  summary: "Retry agent job",
  description: [
    "Starts a failed job again where it stopped. A job whose change is finished is published without asking a model;",
    "any other goes on from its stored steps. An active job is answered as it is. 409 where a retry would end the same",
    "way (`policy_denied`, `instruction_not_understood`, a limit), and for completed and archived jobs.",
    "A body is not needed and not read.",
  ].join(" "),
  params: JobParams,
  response: {
    200: jobAnswer("The job, active.", { ETag: answerHeaders.etag, "Retry-After": answerHeaders.pollAfter }),
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.retryConflict,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

const json = jsonAnswer("The diff; empty where nothing changed, or nothing was handed over yet.", "JobDiff", {
  Vary: answerHeaders.varyAccept,
});

export const getJobDiffOperation = {
  ...jobOperation,
  operationId: "getAgentJobDiff",
  summary: "Get an agent job's diff",
  description:
    "What the job changed against its base: a unified diff, or with `Accept: application/json` the same with figures.",
  params: JobParams,
  headers: Type.Object({
    Accept: Type.Optional(Type.String({ description: "`application/json` for JSON.", examples: ["application/json"] })),
  }),
  response: {
    200: {
      ...json,
      content: {
        "text/x-diff": { schema: { type: "string" } },
        ...json.content,
      },
    },
    401: refusals.unauthorized,
    404: refusals.notFound,
    429: refusals.tooManyDiffs,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const getJobRunOperation = {
  ...jobOperation,
  operationId: "getAgentJobRun",
  summary: "Get an agent job's run",
  description: "What the job is doing or did: phase, failure, steps, usage and cost, findings, pull request.",
  params: JobParams,
  response: {
    200: jsonAnswer("The run.", "JobRun"),
    401: refusals.unauthorized,
    404: refusals.notFound,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const streamJobEventsOperation = {
  ...jobOperation,
  operationId: "streamAgentJobEvents",
  summary: "Follow an agent job's events",
  description: [
    "Server-sent events: first all that happened, then each as it happens, until the job is final. Each has its",
    "sequence number as `id`, its kind as `event` and a JobEvent in `data`. Comment lines keep the connection alive.",
    "A connection may end earlier; connect again with `Last-Event-ID` and nothing is missed or repeated.",
  ].join(" "),
  params: JobParams,
  headers: Type.Object({
    "Last-Event-ID": Type.Optional(
      Type.String({ pattern: "^[0-9]{1,9}$", description: "The last event seen: the stream goes on after it." }),
    ),
  }),
  response: {
    200: {
      description: "The events.",
      headers: {
        ...everyAnswerHeaders,
        "Cache-Control": answerHeaders.streamCacheControl,
        "X-Accel-Buffering": answerHeaders.accelBuffering,
      },
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
    204: emptyAnswer("The job is final and every event was seen: there is nothing to connect for again.", {}),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    404: refusals.notFound,
    429: refusals.tooManyStreams,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};
