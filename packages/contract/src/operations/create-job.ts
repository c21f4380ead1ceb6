import { Type } from "typebox";
import { jobAnswer, refusals } from "../answers.ts";
import { answerHeaders, rateLimitHeaders } from "../headers.ts";
import { jobOperation, ProjectParams } from "./parameters.ts";

export const idempotencyKeyLengthMax = 255;

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
  headers: Type.Object({
    "Idempotency-Key": Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: idempotencyKeyLengthMax,
        description:
          "Makes a repeated request safe for 24 hours: the same key with the same body gives the first answer again, with another body 409. Bodies are the same when the fields that Emend reads are equal; white space, the order of fields and unknown fields do not matter.",
      }),
    ),
  }),
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
