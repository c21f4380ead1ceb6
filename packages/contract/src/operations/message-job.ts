import { jobAnswer, refusals } from "../answers.ts";
import { answerHeaders, rateLimitHeaders } from "../headers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

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
  body: { $ref: "MessageJobBody#" },
  response: {
    200: jobAnswer("The job, active again.", {
      ETag: answerHeaders.etag,
      "Retry-After": answerHeaders.pollAfter,
      ...rateLimitHeaders,
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
