import { jobAnswer, refusals } from "../answers.ts";
import { answerHeaders } from "../headers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

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
