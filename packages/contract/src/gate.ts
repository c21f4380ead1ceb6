import { type Static, Type } from "typebox";
import { jsonAnswer, refusals } from "./answers.ts";
import { Claim } from "./claim.ts";
import { ProjectParams, projectId } from "./operations.ts";

const closed = { additionalProperties: false };
const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const place = {
  check: Type.String({ description: "The check, such as `stale-reference` or `broken-link`." }),
  severity: Type.Enum(["error", "warning", "info"], { type: "string" }),
  path: Type.String({ description: "Path in the docs repository." }),
  line: Type.Integer({ description: "Line, from 1." }),
  message: Type.String(),
};
const renamed = Type.Optional(
  Type.Object({ from: Type.String(), to: Type.String() }, { ...closed, description: "A rename that is certain." }),
);

const gateFields = {
  id: Type.String({ description: "The status's identifier." }),
  repository: nullable("Name of the context repository; null: the docs repository."),
  number: Type.Integer({ description: "The pull request's number." }),
  title: Type.String({ description: "The pull request's title." }),
  url: Type.String({ description: "The pull request." }),
  head: Type.String({ description: "The commit that has the status." }),
  name: Type.String({ description: "The status's name on the forge." }),
  state: Type.Enum(["pending", "passed", "neutral", "failed"], { type: "string" }),
  words: Type.String({ description: "What the status says." }),
  refusal: nullable("Why the forge does not show the status; null: it does."),
  jobId: nullable("The job that updates the docs."),
  judgedAt: nullable("When the commit was checked, in ISO 8601; null: not yet."),
  updatedAt: Type.String({ description: "ISO 8601." }),
};
const gateExample = {
  id: "gat_0mk3x9v2cq7d1t5y8w4z6",
  repository: "api",
  number: 41,
  title: "Rename the flag",
  url: "https://github.com/acme/api/pull/41",
  head: "9c1d6e0f7a3b5c2d4e6f8a0b1c3d5e7f9a2b4c6d",
  name: "emend/docs",
  state: "failed",
  words: "1 page mentions what this removes or renames.",
  refusal: null,
  jobId: null,
  judgedAt: "2026-11-15T12:00:00.000Z",
  updatedAt: "2026-11-15T12:00:00.000Z",
};

/** A status that Emend set on a pull request. */
export const GateSummary = Type.Object(gateFields, { ...closed, $id: "GateSummary", examples: [gateExample] });
export type GateSummary = Static<typeof GateSummary>;

export const GateList = Type.Object(
  { gates: Type.Array(Type.Unsafe<GateSummary>({ $ref: "GateSummary#" })) },
  { ...closed, $id: "GateList", examples: [{ gates: [] }] },
);

export const Gate = Type.Object(
  {
    ...gateFields,
    findings: Type.Array(
      Type.Object(
        {
          ...place,
          renamed,
          causes: Type.Optional(Type.Array(Type.String(), { description: "Files that had what is missing." })),
          claim: Type.Optional(
            Type.Object(
              {
                text: Type.String({ description: "The page's text." }),
                source: Type.String({ description: "The lines of code that it relies on, such as `src/net.ts:4`." }),
                was: Type.String({ description: "These lines before the pull request." }),
                now: nullable("The lines in their place; null: they are gone."),
              },
              {
                ...closed,
                description: "The page's text and the code that it relies on, before and after the pull request.",
              },
            ),
          ),
          verdict: Type.Optional(
            Type.Object(
              {
                kind: Type.Enum(["wrong docs", "still right", "cannot tell"], { type: "string" }),
                reason: Type.String({ description: "The model's reason." }),
              },
              { ...closed, description: "What a model said about the finding. Absent: none was asked." },
            ),
          ),
        },
        closed,
      ),
      { description: "Each place that the status is about; 500 at most." },
    ),
  },
  { ...closed, $id: "Gate", examples: [{ ...gateExample, findings: [] }] },
);
export type Gate = Static<typeof Gate>;

/** The newest check of a project's site. */
export const Health = Type.Object(
  {
    checkedAt: nullable("ISO 8601; null: the site was not checked yet."),
    commit: nullable("The commit of the docs."),
    branch: nullable("Its branch."),
    pages: Type.Integer({ description: "The number of pages." }),
    problem: nullable("Why the last check failed; null: it did not."),
    counts: Type.Array(
      Type.Object(
        {
          check: place.check,
          severity: place.severity,
          count: Type.Integer(),
          fixable: Type.Integer({ description: "How many of them have a certain fix." }),
        },
        closed,
      ),
    ),
    sources: Type.Array(
      Type.Object(
        {
          repository: nullable("Name of the context repository; null: the project's own."),
          commit: nullable("The commit that the pages were compared with; null: it was not read."),
          problem: nullable("Why it was not compared."),
        },
        closed,
      ),
      { description: "The code that the pages were compared with." },
    ),
    findings: Type.Array(
      Type.Object(
        {
          ...place,
          renamed,
          repository: Type.Optional(nullable("Of a finding that a change of the code caused: the context repository.")),
          cause: Type.Optional(Claim.properties.cause),
          claimId: Type.Optional(Type.String({ description: "The changed or gone claim." })),
        },
        closed,
      ),
      { description: "The worst 500 findings." },
    ),
  },
  {
    ...closed,
    $id: "Health",
    examples: [
      {
        checkedAt: "2026-11-15T12:00:00.000Z",
        commit: "9c1d6e0f7a3b5c2d4e6f8a0b1c3d5e7f9a2b4c6d",
        branch: "main",
        pages: 24,
        problem: null,
        counts: [{ check: "stale-reference", severity: "error", count: 1, fixable: 0 }],
        sources: [{ repository: "api", commit: "1f2e3d4c5b6a79880716253443526170f9e8d7c6", problem: null }],
        findings: [
          {
            check: "stale-reference",
            severity: "error",
            path: "docs/run.md",
            line: 9,
            message: "`--dry-run` was renamed to `--preview`. Use the new name.",
            renamed: { from: "--dry-run", to: "--preview" },
            repository: "api",
            cause: {
              commit: "1f2e3d4c5b6a79880716253443526170f9e8d7c6",
              author: "Ada",
              date: "2026-11-15",
              message: "Rename the flag (#41)",
              pullRequest: 41,
            },
          },
        ],
      },
    ],
  },
);
export type Health = Static<typeof Health>;

const operation = { tags: ["Gates and health"], security: [{ adminKey: [] }] };
const GateParams = Type.Object({ projectId, id: Type.String({ description: "The status's identifier." }) });
const reads = { 401: refusals.unauthorized, 404: refusals.notFound, 500: refusals.internal, 503: refusals.unavailable };

export const listGatesOperation = {
  ...operation,
  operationId: "listGates",
  summary: "List gates",
  description: "Lists the statuses that Emend set on pull requests of the project's repositories: the newest 100.",
  params: ProjectParams,
  response: { 200: jsonAnswer("The statuses.", "GateList"), ...reads },
};

export const getGateOperation = {
  ...operation,
  operationId: "getGate",
  summary: "Get gate",
  description: "Returns a status with each place in the docs that it is about.",
  params: GateParams,
  response: { 200: jsonAnswer("The status.", "Gate"), ...reads },
};

export const lookAtGateOperation = {
  ...operation,
  operationId: "pollGate",
  summary: "Check gate again",
  description:
    "Asks a worker to look at the pull requests of the project's repositories now. Get the status again to see what it finds. No body is needed.",
  params: GateParams,
  response: { 202: jsonAnswer("The status as it is now.", "Gate"), ...reads, 403: refusals.forbidden },
};

export const getHealthOperation = {
  ...operation,
  operationId: "getHealth",
  summary: "Get site health",
  description:
    "Returns what the newest check of the project's base branch found, what no longer agrees with the code included.",
  params: ProjectParams,
  response: { 200: jsonAnswer("The newest check.", "Health"), ...reads },
};
