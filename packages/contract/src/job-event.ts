import { type Static, Type } from "typebox";
import { failureCodes, jobPhases } from "./errors.ts";
import { PullRequestState } from "./pull-request.ts";

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

const record = { additionalProperties: false };
const optional = Type.Optional;
const ending = {
  prLink: optional(Type.String({ description: "Absent: there is no pull request." })),
};
const failure = {
  code: optional(Type.Enum(failureCodes, { type: "string" })),
  message: optional(Type.String()),
};

/** What an event's `data` holds, by its kind. */
export const JobEventData = Type.Object(
  {
    "job.created": Type.Object({}, { ...record, description: "A job was created. Always empty." }),
    "job.message": Type.Object(
      { number: Type.Integer({ minimum: 1 }) },
      { ...record, description: "A further instruction was accepted; the first has the number 1." },
    ),
    "run.started": Type.Object(
      { run: Type.Integer({ minimum: 1 }), phase: Type.Enum(jobPhases, { type: "string" }) },
      { ...record, description: "A worker has taken the job up." },
    ),
    phase: Type.Object(
      {
        phase: Type.Enum(jobPhases, { type: "string" }),
        base: optional(
          Type.Object(
            {
              commit: Type.String(),
              branch: Type.String(),
              moved: optional(Type.Enum(["merged", "conflict"] as const, { type: "string" })),
            },
            { ...record, description: "The commit that the change is against, once it is known or has moved." },
          ),
        ),
        commit: optional(Type.String({ description: "The commit that is being published." })),
        reason: optional(
          Type.Enum(["released", "retry", "waiting", "crash", "asked"] as const, {
            type: "string",
            description:
              "Why the job went back to the queue. `waiting`: its forge is away; told once, and its run says when the next try is. `asked`: somebody retried it.",
          }),
        ),
        ...failure,
        try: optional(Type.Integer({ description: "How often a far end that was away was tried." })),
        crashes: optional(Type.Integer()),
      },
      { ...record, description: "The run is in another phase." },
    ),
    step: Type.Object(
      {
        number: Type.Integer(),
        model: Type.String(),
        text: Type.String({ description: "What the model said, shortened." }),
        tools: Type.Array(
          Type.Object(
            { name: Type.String(), input: Type.Record(Type.String(), Type.Unknown()), ok: Type.Boolean() },
            record,
          ),
        ),
      },
      { ...record, description: "The agent has made a step." },
    ),
    findings: Type.Object(
      {
        verdict: Type.Enum(["passed", "flagged", "denied"] as const, { type: "string" }),
        introduced: optional(Type.Integer()),
        fixed: optional(Type.Integer()),
        before: optional(Type.Integer()),
        after: optional(Type.Integer()),
        violations: optional(Type.Array(Type.Object({ path: Type.String(), rule: Type.String() }, record))),
      },
      { ...record, description: "The change was checked; figures of a denied one are its violations, at most 20." },
    ),
    pull_request: Type.Object(PullRequestState.properties, {
      ...record,
      description: "It was opened, merged, closed or opened again, or is a draft no more.",
    }),
    completed: Type.Object(ending, { ...record, description: "The job is final." }),
    failed: Type.Object({ ...ending, ...failure }, { ...record, description: "The job is final." }),
    archived: Type.Object(
      { ...ending, ...failure, reason: optional(Type.String({ description: "`retention`: it archived itself." })) },
      { ...record, description: "The job is final and archived." },
    ),
  },
  { ...record, $id: "JobEventData", description: "What the `data` of an event holds, by its `kind`." },
);
