import { Type } from "typebox";
import { jsonAnswer, refusals } from "../answers.ts";
import { answerHeaders } from "../headers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

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
