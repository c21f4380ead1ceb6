import { type Static, Type } from "typebox";
import { failureCodes, jobPhases } from "./errors.ts";
import { AskedConstruct, JobDiff, PullRequestState } from "./job.ts";

/** For larger data, long strings and lists are left out, so that every event fits a client's buffer. */
export const eventDataBytesMax = 65_536;
/** Constructs in an event and in a webhook's message. The SQL function `approval_told` has the same number. */
export const constructsToldMax = 20;

const record = { additionalProperties: false };
const optional = Type.Optional;
const truncated = {
  truncated: optional(
    Type.Literal(true, {
      type: "boolean",
      description: `The data was over ${eventDataBytesMax} bytes: its long texts and lists are left out.`,
    }),
  ),
};
const ending = {
  ...truncated,
  prLink: optional(Type.String({ description: "Absent if there is no pull request." })),
};
const failure = {
  code: optional(Type.Enum(failureCodes, { type: "string" })),
  message: optional(Type.String()),
};

/** A file as one step of the agent changed it. */
export const StepFile = JobDiff.properties.files.items;
export type StepFile = JobDiff["files"][number];

/** An event's `data`, by its kind. */
export const JobEventData = Type.Object(
  {
    "job.created": Type.Object({}, { ...record, description: "A job was created. Always empty." }),
    "job.message": Type.Object(
      { number: Type.Integer({ minimum: 1 }) },
      { ...record, description: "A follow-up message was accepted. The first has number 1." },
    ),
    "job.interjection": Type.Object(
      { text: Type.String() },
      {
        ...record,
        description:
          "A message was accepted while the job works. The agent sees it before its next turn; if there is none, it starts a follow-up. `text`: its first 500 characters.",
      },
    ),
    "job.question": Type.Object(
      {
        question: Type.String(),
        options: Type.Array(Type.String(), { description: "Answers to choose from. Any other answer is allowed too." }),
        answerUntil: Type.String({ format: "date-time", description: "When the agent continues with its best guess." }),
      },
      {
        ...record,
        description:
          "The agent asks a question, and the job waits for an answer. Any message to the job is the answer.",
      },
    ),
    "job.waiting": Type.Object(
      {
        for: Type.Literal("approval", { type: "string" }),
        message: Type.String(),
        constructs: Type.Array(AskedConstruct, { description: `At most ${constructsToldMax}; the run has all.` }),
        constructCount: Type.Integer({ minimum: 1 }),
        until: Type.String({ format: "date-time", description: "When the job fails with `policy_denied`." }),
        ...truncated,
      },
      {
        ...record,
        description:
          "The change has what Emend does not know on this site. The job waits until a person approves or declines it.",
      },
    ),
    "job.approved": Type.Object(
      { by: Type.String({ description: "`user/…` or `key/…`." }), remember: Type.Boolean() },
      { ...record, description: "A person approved the change. It is published now." },
    ),
    "run.started": Type.Object(
      { run: Type.Integer({ minimum: 1 }), phase: Type.Enum(jobPhases, { type: "string" }) },
      { ...record, description: "A worker started the job." },
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
            { ...record, description: "The base commit of the change, once it is known or has moved." },
          ),
        ),
        commit: optional(Type.String({ description: "The commit that is being published." })),
        reason: optional(
          Type.Enum(["released", "retry", "waiting", "crash", "asked"] as const, {
            type: "string",
            description:
              "Why the job went back to the queue. `waiting`: its forge is unavailable, or the server's disk is full; sent once, and the run has the time of the next retry. `asked`: somebody retried it, or had a preview published.",
          }),
        ),
        ...failure,
        try: optional(Type.Integer({ description: "How many times an unavailable service was tried." })),
        crashes: optional(Type.Integer({ description: "How often a worker of this job was lost." })),
        ...truncated,
      },
      { ...record, description: "The run entered another phase." },
    ),
    step: Type.Object(
      {
        number: Type.Integer({ description: "The step's place in its job, from 1 on." }),
        model: Type.String({ description: "The model that made it." }),
        text: Type.String({ description: "The model's text, shortened." }),
        tools: Type.Array(
          Type.Object(
            { name: Type.String(), input: Type.Record(Type.String(), Type.Unknown()), ok: Type.Boolean() },
            record,
          ),
          { description: "The tools that it called." },
        ),
        files: optional(
          Type.Array(StepFile, { description: "The files that it changed, at most 20. Absent if there are none." }),
        ),
        ...truncated,
      },
      { ...record, description: "The agent finished a step." },
    ),
    findings: Type.Object(
      {
        verdict: Type.Enum(["passed", "flagged", "denied"] as const, { type: "string" }),
        introduced: optional(Type.Integer({ description: "Findings that are new with the change." })),
        fixed: optional(Type.Integer({ description: "Findings that the change fixed." })),
        before: optional(Type.Integer({ description: "On the whole site before the change." })),
        after: optional(Type.Integer({ description: "On the whole site after the change." })),
        violations: optional(Type.Array(Type.Object({ path: Type.String(), rule: Type.String() }, record))),
        ...truncated,
      },
      { ...record, description: "The change was checked. A denied change has its violations, at most 20." },
    ),
    pull_request: Type.Object(PullRequestState.properties, {
      ...record,
      description: "The pull request was opened, merged, closed, reopened or marked ready.",
    }),
    completed: Type.Object(
      {
        ...ending,
        ...failure,
        refused: optional(Type.String({ description: "What Emend refused, if nothing was left to publish." })),
      },
      {
        ...record,
        description:
          "The job is final. With a `code`, its last follow-up failed or was cancelled, and what the job had reached before stays.",
      },
    ),
    failed: Type.Object({ ...ending, ...failure }, { ...record, description: "The job is final." }),
    archived: Type.Object(
      {
        ...ending,
        ...failure,
        reason: optional(
          Type.String({ description: "`retention`: archived automatically after the retention period." }),
        ),
      },
      { ...record, description: "The job is final and archived." },
    ),
  },
  { ...record, $id: "JobEventData", description: "The `data` of an event, by its `kind`." },
);

/** The kinds of events; newer servers may send others. */
export type JobEventKind = keyof Static<typeof JobEventData>;
/** An event of a job, discriminated by its `kind`: the `data` field of the stream. */
export type JobEvent = {
  [Kind in JobEventKind]: { seq: number; kind: Kind; at: string; data: Static<typeof JobEventData>[Kind] };
}[JobEventKind];

/** An event of a job: the `data` field of the stream. */
export const JobEvent = Type.Union(
  Object.entries(JobEventData.properties).map(([kind, data]) =>
    Type.Object(
      {
        seq: Type.Integer({
          minimum: 1,
          description: "The event's sequence number in its job, without gaps; also its `id` field.",
        }),
        kind: Type.Literal(kind, { type: "string", description: "What happened; also its `event` field." }),
        at: Type.String({ format: "date-time", description: "When it happened." }),
        data,
      },
      { ...record, title: kind },
    ),
  ),
  {
    $id: "JobEvent",
    description: "One thing that happened to a job, by its `kind`. Newer servers may send kinds that are not listed.",
    examples: [{ seq: 3, kind: "phase", at: "2026-03-02T09:15:01.000Z", data: { phase: "checking" } }],
  },
);
