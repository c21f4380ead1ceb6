import { Type } from "typebox";
import { emptyAnswer, refusals } from "../answers.ts";
import { answerHeaders } from "../headers.ts";
import { JobParams, jobOperation } from "./parameters.ts";

export const streamJobEventsOperation = {
  ...jobOperation,
  operationId: "streamAgentJobEvents",
  summary: "Follow an agent job's events",
  description: [
    "Server-sent events: first all that happened, then each as it happens, until the job is final. Each has its",
    "sequence number as `id`, its kind as `event` and a JobEvent in `data`. Comment lines keep the connection alive.",
    "A connection may end earlier; connect again with `Last-Event-ID` and nothing is missed or repeated.",
  ].join(" "),
  params: JobParams,
  headers: Type.Object({
    "Last-Event-ID": Type.Optional(
      Type.String({ pattern: "^[0-9]{1,9}$", description: "The last event seen: the stream goes on after it." }),
    ),
  }),
  response: {
    200: {
      description: "The events.",
      headers: {
        "Cache-Control": answerHeaders.streamCacheControl,
        "X-Accel-Buffering": answerHeaders.accelBuffering,
      },
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
    204: emptyAnswer("The job is final and every event was seen: there is nothing to connect for again.", {}),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    404: refusals.notFound,
    429: refusals.tooManyStreams,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};
