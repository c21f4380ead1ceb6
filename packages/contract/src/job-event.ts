import { type Static, Type } from "typebox";

/** Larger data is replaced by `{ "truncated": true }`, so that every event fits a client's buffer. */
export const eventDataBytesMax = 65_536;

/** One thing that happened to a job: the `data` field of an event on the stream. */
export const JobEvent = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: "The event's place in its job, without gaps; also its `id` field." }),
    kind: Type.String({
      description:
        "What happened; also its `event` field. `job.created`, `job.message`, `run.started`, `phase`, `step`, `findings`, `pull_request`, and the final `completed`, `failed` and `archived`. Newer servers may send others.",
    }),
    at: Type.String({ format: "date-time" }),
    data: Type.Unknown({
      description: `As JobEventData says of its kind; \`{"truncated":true}\` where it is over ${eventDataBytesMax} bytes.`,
    }),
  },
  {
    additionalProperties: false,
    $id: "JobEvent",
    examples: [{ seq: 3, kind: "phase", at: "2026-03-02T09:15:01.000Z", data: { phase: "checking" } }],
  },
);
export type JobEvent = Static<typeof JobEvent>;
