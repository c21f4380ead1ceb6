import { jsonAnswer, refusals } from "../answers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

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
