import { jobAnswer, refusals } from "../answers.ts";
import { answerHeaders } from "../headers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

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
