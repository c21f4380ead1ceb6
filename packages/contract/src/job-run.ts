import { type Static, type TSchema, Type } from "typebox";
import { failureCodes, jobPhases } from "./errors.ts";
import { AskedConstruct, jobStatuses, PullRequestState } from "./job.ts";

/** Lists on a run are cut at these lengths. Counts include everything. */
export const stepsShownMax = 50;
export const findingsShownMax = 100;
/** The path of a finding that is about no file. */
export const wholeChange = "the change";

const time = Type.String({ format: "date-time" });
const record = { additionalProperties: false };

function nullable<T extends TSchema>(schema: T, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

const Finding = Type.Object(
  {
    check: Type.String(),
    severity: Type.String(),
    path: Type.String(),
    line: Type.Integer(),
    column: Type.Integer(),
    message: Type.String(),
    dispute: Type.Optional(Type.String({ description: "Why the agent considers this finding wrong." })),
    certainty: Type.Optional(
      Type.String({
        description: "`likely` or `unknown`, if only the site's build can tell; absent if certain.",
      }),
    ),
    why: Type.Optional(Type.String({ description: "Why it is not certain." })),
  },
  record,
);

const Step = Type.Object(
  {
    number: Type.Integer(),
    at: time,
    model: Type.String(),
    text: Type.String({ description: "The model's text, shortened." }),
    tools: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          input: Type.Unknown({ description: "Paths, terms and flags; longer texts are replaced by their length." }),
          ok: Type.Boolean(),
        },
        record,
      ),
    ),
  },
  record,
);

/** Everything about a job that its nine fields do not include. */
export const JobRun = Type.Object(
  {
    id: Type.String({ description: "The job's identifier." }),
    status: Type.Enum(jobStatuses, { type: "string" }),
    phase: Type.Enum(jobPhases, {
      type: "string",
      description: "The current phase, or the last one if the job has ended.",
    }),
    prompt: Type.String(),
    model: Type.String(),
    createdBy: Type.String(),
    title: nullable(Type.String()),
    summary: nullable(Type.String(), "What was done, or why nothing changed."),
    failure: nullable(
      Type.Object({ code: Type.Enum(failureCodes, { type: "string" }), message: Type.String() }, record),
    ),
    waiting: nullable(
      Type.Object(
        {
          for: Type.Enum(["forge", "disk", "model", "answer", "approval"] as const, { type: "string" }),
          since: time,
          nextTryAt: nullable(
            time,
            "Null during an attempt. Of a question: when the agent continues without an answer. Of an approval: `until`.",
          ),
          message: Type.String({
            description:
              "The answer of the forge or the model, or that it did not answer; what is wrong with the server's disk; the agent's question, or what a person is asked to approve.",
          }),
          options: Type.Optional(
            Type.Array(Type.String(), {
              description: "Of a question: answers to choose from. Others are allowed too.",
            }),
          ),
          until: Type.Optional(
            Type.String({
              format: "date-time",
              description:
                "Of an approval: when the job fails with `policy_denied`. It can be approved afterwards too.",
            }),
          ),
          constructs: Type.Optional(
            Type.Array(AskedConstruct, { description: "Of an approval: what Emend does not know on this site." }),
          ),
        },
        record,
      ),
      "The job waits for its forge, its model, room on the server's disk, for an answer, or for a person's approval. It stays active. Emend retries; a message answers a question; `POST …/approve` or `…/decline` answers for an approval.",
    ),
    isApprovable: Type.Boolean({
      description:
        "Whether `POST …/approve` can publish the change: it waits for approval, or the time to answer is over.",
    }),
    unanswered: Type.Optional(
      Type.Array(AskedConstruct, {
        description: "What can still be approved after the time to answer is over. Of a job that waits, see `waiting`.",
      }),
    ),
    declinedBy: nullable(Type.String(), "Who decided not to publish the change (`user/…` or `key/…`)."),
    refused: nullable(
      Type.String(),
      "The last reason for which Emend refused something of the agent, if the job then changed nothing.",
    ),
    isRetryable: Type.Boolean({ description: "Whether `POST …/retry` can start the job again." }),
    notices: Type.Array(Type.String(), {
      description: "Problems that did not fail the job, such as a label that does not exist in the repository.",
    }),
    limitReached: nullable(
      Type.Enum(["budget_exceeded", "timeout"] as const, { type: "string" }),
      "The limit at which the agent stopped. The work so far was kept.",
    ),
    steps: Type.Object(
      {
        count: Type.Integer({ minimum: 0 }),
        latest: Type.Array(Step, { description: `The latest, at most ${stepsShownMax}, oldest first.` }),
      },
      record,
    ),
    usage: Type.Object(
      {
        inputTokens: Type.Number({ minimum: 0 }),
        outputTokens: Type.Number({ minimum: 0 }),
        cachedInputTokens: Type.Number({ minimum: 0 }),
        costUsd: Type.Number({ minimum: 0 }),
        secondReaderCostUsd: Type.Number({ minimum: 0, description: "The second reader's part of `costUsd`." }),
      },
      record,
    ),
    findings: nullable(
      Type.Object(
        {
          before: Type.Integer({ description: "Findings on the whole site before the change." }),
          after: Type.Integer(),
          introducedCount: Type.Integer(),
          fixedCount: Type.Integer(),
          introduced: Type.Array(Finding, { description: `At most ${findingsShownMax}.` }),
          fixed: Type.Array(Finding, { description: `At most ${findingsShownMax}.` }),
          links: Type.Optional(
            Type.Object(
              {
                total: Type.Integer({ description: "Links inside the site, after the change." }),
                unjudged: Type.Integer({ description: "How many of them only the site's build can check." }),
              },
              record,
            ),
          ),
        },
        record,
      ),
      "Null until the change is checked, and if policy denied it.",
    ),
    violations: Type.Array(Type.Object({ path: Type.String(), rule: Type.String() }, record), {
      description: "What policy denied. If there are any, nothing was published.",
    }),
    preview: Type.Boolean({ description: "The job creates a diff and opens no pull request." }),
    plan: Type.Boolean({
      description: "The job makes a plan, its summary, and changes nothing until a message to it says to go on.",
    }),
    context: Type.Array(
      Type.Object(
        { name: Type.String(), repositoryUrl: Type.String(), ref: Type.String(), commit: Type.String() },
        record,
      ),
      { description: "The context repositories that the job has read, each with its commit." },
    ),
    sources: Type.Array(
      Type.Object(
        {
          repository: nullable(Type.String(), "The context repository's name; null for the project's own repository."),
          path: Type.String(),
          line: Type.Integer({ minimum: 1 }),
          lineEnd: Type.Integer({ minimum: 1 }),
          commit: Type.String(),
          supports: nullable(Type.String(), "Words of the page's sentence that these lines support."),
          text: nullable(Type.String(), "The lines themselves. Null if they were not kept."),
        },
        record,
      ),
      { description: "The lines that the change is based on. Emend checked that each exists." },
    ),
    baseCommit: nullable(Type.String()),
    baseBranch: nullable(Type.String()),
    pullRequest: nullable(PullRequestState, "The pull request, if there is one, also while the job is active."),
    runs: Type.Integer({ minimum: 0, description: "How many times the job was started." }),
    crashes: Type.Integer({ minimum: 0, description: "How many times its worker was lost." }),
    timings: Type.Object(
      {
        createdAt: time,
        startedAt: nullable(time, "When it was first started."),
        updatedAt: time,
        endedAt: nullable(time),
        archivedAt: nullable(time),
      },
      record,
    ),
  },
  {
    additionalProperties: false,
    $id: "JobRun",
    examples: [
      {
        id: "job_0mk3x9v2cq7d1t5y8w4z6",
        status: "completed",
        phase: "publishing",
        prompt: "Rename guides/auth to security/authentication and fix the links.",
        model: "emend/rules",
        createdBy: "key/k1",
        title: "Rename guides/auth to security/authentication",
        summary: "Moved the page, its navigation entry and 14 links; added a redirect.",
        failure: null,
        waiting: null,
        isApprovable: false,
        declinedBy: null,
        refused: null,
        isRetryable: false,
        notices: [],
        limitReached: null,
        steps: {
          count: 1,
          latest: [
            {
              number: 1,
              at: "2026-03-02T09:15:01.000Z",
              model: "emend/rules",
              text: "",
              tools: [{ name: "rename_page", input: { from: "guides/auth", to: "security/authentication" }, ok: true }],
            },
          ],
        },
        usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0, secondReaderCostUsd: 0 },
        findings: { before: 2, after: 2, introducedCount: 0, fixedCount: 0, introduced: [], fixed: [] },
        violations: [],
        preview: false,
        plan: false,
        context: [],
        sources: [],
        baseCommit: "3f1c9e0b7a6d5c4b3a2910f8e7d6c5b4a3928170",
        baseBranch: "main",
        pullRequest: { number: 42, url: "https://github.com/acme/docs/pull/42", state: "open", draft: false },
        runs: 1,
        crashes: 0,
        timings: {
          createdAt: "2026-03-02T09:15:00.000Z",
          startedAt: "2026-03-02T09:15:00.020Z",
          updatedAt: "2026-03-02T09:15:03.000Z",
          endedAt: "2026-03-02T09:15:03.000Z",
          archivedAt: null,
        },
      },
    ],
  },
);
export type JobRun = Static<typeof JobRun>;
