import { Type } from "typebox";
import { emptyAnswer, jobAnswer, refusals } from "../answers.ts";
import { answerHeaders } from "../headers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

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
