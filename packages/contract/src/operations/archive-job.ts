import { jobAnswer, refusals } from "../answers.ts";
import { answerHeaders } from "../headers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

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
