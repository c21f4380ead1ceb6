import { Type } from "typebox";
import {
  answerHeaders,
  emptyAnswer,
  everyAnswerHeaders,
  jobAnswer,
  jsonAnswer,
  rateLimitHeaders,
  refusals,
} from "./answers.ts";
import { jobStatuses, jobsPerPage, jobsPerPageMax } from "./job.ts";
import { uploadTypes } from "./upload-limits.ts";

export const projectId = Type.String({ description: "The project identifier." });

export const ProjectParams = Type.Object({ projectId });
const JobParams = Type.Object({
  projectId,
  id: Type.String({ description: "The unique identifier of the agent job." }),
});

/** Every job operation has this tag and needs a key. */
const jobOperation = { tags: ["Agent jobs"], security: [{ adminKey: [] }] };

/** The maximum of `Prefer: wait=N`. */
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
      Type.String({ description: "The `ETag` of an earlier response: returns 304 if the job has not changed since." }),
    ),
    Prefer: Type.Optional(
      Type.String({
        description: `\`wait=N\` holds the response of an active job for up to N seconds (${waitSecondsMax} at most): until the job ends or, with \`If-None-Match\`, until it changes. With too many open waits of one key, the response is immediate.`,
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

/** For operations that start work. */
const IdempotencyHeaders = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: idempotencyKeyLengthMax,
      description:
        "Makes it safe to repeat the request for 24 hours. The same key with the same body returns the first response again; with another body it returns 409. Bodies are the same if the fields that Emend reads are equal. White space, the order of fields and unknown fields do not matter.",
    }),
  ),
});

export const createJobOperation = {
  ...jobOperation,
  operationId: "createAgentJob",
  summary: "Create agent job",
  description: [
    "Starts a background agent job and returns at once. Use the get operation to follow it.",
    "",
    "A project can create 100 jobs in any hour unless its settings say otherwise. Refused and replayed requests do not count.",
  ].join("\n"),
  params: ProjectParams,
  headers: IdempotencyHeaders,
  body: { $ref: "CreateJobBody#" },
  response: {
    201: jobAnswer("The job was created, now or before with this idempotency key.", {
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
  description: "Lists the project's jobs, newest first, in pages.",
  params: ProjectParams,
  querystring: Type.Object({
    status: Type.Optional(Type.Enum(jobStatuses, { type: "string", description: "Only jobs in this state." })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: jobsPerPageMax, default: jobsPerPage, description: "Jobs per page." }),
    ),
    cursor: Type.Optional(
      Type.String({
        description: "The `nextCursor` of the previous page, with the same `status`. Other values are refused.",
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

export const listProjectsOperation = {
  ...jobOperation,
  tags: ["Projects"],
  operationId: "listProjects",
  summary: "List projects",
  description: "The projects that the key covers, oldest first.",
  response: {
    200: jsonAnswer("The projects.", "ProjectList"),
    401: refusals.unauthorized,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const uploadOperation = {
  ...jobOperation,
  operationId: "uploadFile",
  summary: "Upload a file",
  description: [
    "Stores a picture (PNG, JPEG, WebP) or a PDF of at most 5 MiB, to be named in `files` of a new job or a message. The body",
    "is the file itself. Metadata of pictures is removed, animations are refused, and of a PDF only the text is kept. An upload",
    "that no prompt names is deleted after a day; the others go with the stored steps of their job.",
  ].join(" "),
  params: ProjectParams,
  querystring: Type.Object({
    name: Type.Optional(Type.String({ description: "The file's name.", examples: ["login.png"] })),
  }),
  body: {
    content: Object.fromEntries(uploadTypes.map((type) => [type, { schema: { type: "string", format: "binary" } }])),
  },
  response: {
    201: jsonAnswer("The file was stored.", "Upload"),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    413: { ...refusals.payloadTooLarge, description: "The body is larger than 5 MiB." },
    415: {
      ...refusals.unsupportedMediaType,
      description: "The body is not declared as PNG, JPEG, WebP or PDF, or is compressed.",
    },
    429: refusals.tooManyUploads,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const messageJobOperation = {
  ...jobOperation,
  operationId: "messageAgentJob",
  summary: "Message agent job",
  description: [
    "Continues a finished job with a new instruction, on the same branch and pull request. Commits that people pushed to",
    "the branch are kept; a push while the job is running ends it with the code `branch_conflict`. The job is",
    "`active` again, with `prLink` null until it ends. An active job hears the message before its agent's next turn; if it",
    "comes too late for that, the job continues with it once it has published. To a job that waits for an answer, it is the",
    "answer. A project can send 100 messages in any hour.",
  ].join(" "),
  params: JobParams,
  headers: IdempotencyHeaders,
  body: { $ref: "MessageJobBody#" },
  response: {
    200: jobAnswer("The job, active; or the first response again, if this idempotency key was used before.", {
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
    "Cancels an active job: it becomes `failed`, with the code `cancelled` on its run, and opens no pull request",
    "afterwards. If only a follow-up is cancelled, the job is `completed` again. A finished job does not change. A job that is being published cannot be cancelled: 409.",
    "No body is needed.",
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
    "afterwards. If it is being published, the request waits up to 30 seconds for the result.",
    "No body is needed.",
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
    "any other job continues from its stored steps. An active job does not change. 409 if a retry would end the same",
    "way (`policy_denied`, `instruction_not_understood`, a limit), for archived jobs, and for completed ones unless their",
    "last follow-up failed.",
    "No body is needed.",
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

export const publishJobOperation = {
  ...jobOperation,
  operationId: "publishAgentJob",
  summary: "Publish a previewed agent job",
  description: [
    "Publishes a completed preview: the very diff that `…/diff` shows, without asking a model. The job is `active` again until its",
    "pull request is open. Policy decides again. If the base branch has changed one of the files since, the job fails with the code",
    "`branch_conflict`, and nothing is published. A preview that was published already does not change.",
    "409 for any other job. No body is needed.",
  ].join(" "),
  params: JobParams,
  response: {
    200: jobAnswer("The job, active.", { ETag: answerHeaders.etag, "Retry-After": answerHeaders.pollAfter }),
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.publishConflict,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const approveJobOperation = {
  ...jobOperation,
  operationId: "approveAgentJob",
  summary: "Approve an agent job's change",
  description: [
    "Answers the question about constructs that Emend does not know on the site (`waiting` of the run): the very change that",
    "`…/diff` shows is published, without asking a model. If the base branch changed these constructs meanwhile, the job",
    "asks anew. A job that failed because the time to answer was over is published too. 409 for any other job, and for a second",
    "answer. Takes a key that may write; the job's own agent has none.",
  ].join(" "),
  params: JobParams,
  body: { $ref: "ApproveJobBody#" },
  response: {
    200: jobAnswer("The job, active.", { ETag: answerHeaders.etag, "Retry-After": answerHeaders.pollAfter }),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.approvalConflict,
    413: refusals.payloadTooLarge,
    415: refusals.unsupportedMediaType,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const declineJobOperation = {
  ...jobOperation,
  operationId: "declineAgentJob",
  summary: "Decline an agent job's change",
  description: [
    "Answers the same question with no: the job becomes `failed`, with the code `policy_denied` on its run, and nothing is",
    "published. A message to the job can have the change made in another way. 409 for a job that does not wait for approval.",
    "No body is needed.",
  ].join(" "),
  params: JobParams,
  response: {
    200: jobAnswer("The job, final.", { ETag: answerHeaders.etag }),
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.approvalConflict,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

const json = jsonAnswer("The diff; empty if nothing changed, or not yet.", "JobDiff", {
  Vary: answerHeaders.varyAccept,
});

export const getJobDiffOperation = {
  ...jobOperation,
  operationId: "getAgentJobDiff",
  summary: "Get an agent job's diff",
  description:
    "Returns the job's changes to its base: a unified diff, or with `Accept: application/json` the diff and numbers per file. While the agent works, it is the change so far; in a follow-up, the change of that round.",
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
  description: "Returns details of the job: phase, failure, steps, usage and cost, findings, pull request.",
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
    "Server-sent events: first all past events, then new ones as they happen, until the job ends. Each has its",
    "sequence number as `id`, its kind as `event` and a JobEvent in `data`. Comment lines keep the connection alive.",
    "If the connection ends earlier, reconnect with `Last-Event-ID`; no event is missed or repeated.",
  ].join(" "),
  params: JobParams,
  headers: Type.Object({
    "Last-Event-ID": Type.Optional(
      Type.String({
        pattern: "^[0-9]{1,9}$",
        description: "The last event that you received. The stream continues after it.",
      }),
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
    204: emptyAnswer("The job has ended and you received every event. Do not reconnect.", {}),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    404: refusals.notFound,
    429: refusals.tooManyStreams,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};
