import { Type } from "typebox";
import { jobStatuses } from "../agent-job.ts";
import { jsonAnswer, refusals } from "../answers.ts";
import { jobsPerPage, jobsPerPageMax } from "../job-list.ts";
import { jobOperation, ProjectParams } from "./parameters.ts";

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
