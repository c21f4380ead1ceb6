import { type Static, type TSchema, Type } from "typebox";
import { jobStatuses } from "./agent-job.ts";
import { failureCodes, jobPhases } from "./errors.ts";
import { PullRequestState } from "./pull-request.ts";

/** Lists on a run are cut at these lengths; counts are of everything. */
export const stepsShownMax = 50;
export const findingsShownMax = 100;

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
    dispute: Type.Optional(Type.String({ description: "Why the agent holds this finding to be wrong." })),
    certainty: Type.Optional(
      Type.String({
        description: "`likely` or `unknown`, where only the build of the site can tell; left out: certain.",
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
    text: Type.String({ description: "What the model said, shortened." }),
    tools: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          input: Type.Unknown({ description: "Paths, terms and flags; longer texts by their length alone." }),
          ok: Type.Boolean(),
        },
        record,
      ),
    ),
  },
  record,
);

/** Everything about a job that its nine fields do not say. */
export const JobRun = Type.Object(
  {
    id: Type.String({ description: "The job's identifier." }),
    status: Type.Enum(jobStatuses, { type: "string" }),
    phase: Type.Enum(jobPhases, { type: "string", description: "Where the run is, or was when the job ended." }),
    prompt: Type.String(),
    model: Type.String(),
    createdBy: Type.String(),
    title: nullable(Type.String()),
    summary: nullable(Type.String(), "What was done, or why nothing was."),
    failure: nullable(
      Type.Object({ code: Type.Enum(failureCodes, { type: "string" }), message: Type.String() }, record),
    ),
    waiting: nullable(
      Type.Object(
        {
          for: Type.Enum(["forge"] as const, { type: "string" }),
          since: time,
          nextTryAt: nullable(time, "Null while a try is under way."),
          message: Type.String({ description: "What the forge said, or that it did not answer." }),
        },
        record,
      ),
      "Finished work waits for its forge; the job stays active and is tried again.",
    ),
    isRetryable: Type.Boolean({ description: "Whether `POST …/retry` would start the job again." }),
    notices: Type.Array(Type.String(), {
      description: "What did not work and did not fail the job, such as a label that the repository does not have.",
    }),
    limitReached: nullable(
      Type.Enum(["budget_exceeded", "timeout"] as const, { type: "string" }),
      "The limit at which the agent stopped; what it had done was kept.",
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
                unjudged: Type.Integer({ description: "Those of them that only the build of the site can judge." }),
              },
              record,
            ),
          ),
        },
        record,
      ),
      "Null until the change was checked, and where policy denied it.",
    ),
    violations: Type.Array(Type.Object({ path: Type.String(), rule: Type.String() }, record), {
      description: "What policy denied; nothing was published then.",
    }),
    preview: Type.Boolean({ description: "The job shows its diff and opens nothing." }),
    context: Type.Array(
      Type.Object(
        { name: Type.String(), repositoryUrl: Type.String(), ref: Type.String(), commit: Type.String() },
        record,
      ),
      { description: "The context repositories that the job has read, each at the commit it reads." },
    ),
    sources: Type.Array(
      Type.Object(
        {
          repository: nullable(Type.String(), "A context repository's name; null: the project's own."),
          path: Type.String(),
          line: Type.Integer({ minimum: 1 }),
          commit: Type.String(),
        },
        record,
      ),
      { description: "The lines that the change is founded on; each was looked up." },
    ),
    baseCommit: nullable(Type.String()),
    baseBranch: nullable(Type.String()),
    pullRequest: nullable(PullRequestState, "Also while the job is active, where one exists."),
    runs: Type.Integer({ minimum: 0, description: "How often the job was taken up." }),
    crashes: Type.Integer({ minimum: 0, description: "How often its worker was lost." }),
    timings: Type.Object(
      {
        createdAt: time,
        startedAt: nullable(time, "When it was first taken up."),
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
        usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 },
        findings: { before: 2, after: 2, introducedCount: 0, fixedCount: 0, introduced: [], fixed: [] },
        violations: [],
        preview: false,
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
