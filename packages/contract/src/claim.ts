import { type Static, Type } from "typebox";
import { jsonAnswer, refusals } from "./answers.ts";
import { ProjectParams, projectId } from "./operations.ts";

export const claimStates = ["new", "same", "changed", "gone"] as const;
export type ClaimState = (typeof claimStates)[number];
export const claimsPerPageMax = 1_000;
export const claimsPerPage = 100;

const text = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const place = {
  path: Type.String({ description: "Path in the repository." }),
  line: Type.Integer({ minimum: 1, description: "First line, from 1." }),
  lineEnd: Type.Integer({ minimum: 1, description: "Last line." }),
};

/** What a page says, and the lines of code that it is founded on. */
export const Claim = Type.Object(
  {
    id: Type.String({ description: "The claim's identifier." }),
    page: Type.Object(
      { ...place, text: text("The text that the claim stands for; null until Emend has read it.") },
      { additionalProperties: false, description: "The part of the docs that makes the claim." },
    ),
    source: Type.Object(
      {
        repository: text("Name of the context repository; null: the project's own repository."),
        ...place,
        text: text("The cited lines; null until Emend has read them."),
        symbol: text("The definition, key or section around them."),
        commit: text("The commit at which they were last seen like this."),
      },
      { additionalProperties: false, description: "The lines that the page relies on." },
    ),
    state: Type.Enum(claimStates, {
      type: "string",
      description:
        "`new`: not read yet. `same`: the lines are as they were; lines that only moved count as the same. `changed`: other lines are in their place. `gone`: they were not found.",
    }),
    found: Type.Union([Type.Object({ ...place, text: Type.String() }, { additionalProperties: false }), Type.Null()], {
      description: "Of a changed claim: what is there now.",
    }),
    cause: Type.Union(
      [
        Type.Object(
          {
            commit: Type.String(),
            author: Type.String(),
            date: Type.String({ description: "A day, such as `2026-11-15`." }),
            message: Type.String(),
            pullRequest: Type.Union([Type.Integer(), Type.Null()], {
              description: "Its number, where the commit's message names one.",
            }),
          },
          { additionalProperties: false },
        ),
        Type.Null(),
      ],
      { description: "The commit that changed or removed the lines, where it is known." },
    ),
    problem: text("Why Emend could not read the claim."),
    changedAt: text("When the change was found, in ISO 8601."),
    jobId: text("The job that cited the lines; null: somebody added the claim."),
    createdAt: Type.String({ description: "ISO 8601." }),
  },
  {
    additionalProperties: false,
    $id: "Claim",
    examples: [
      {
        id: "clm_6d1f3b0c2a5e4f7b8c9d0e1f2a3b4c5d",
        page: { path: "docs/timeouts.md", line: 12, lineEnd: 12, text: "A call ends after 30 seconds." },
        source: {
          repository: "api",
          path: "src/net.ts",
          line: 4,
          lineEnd: 4,
          text: "  const timeoutMs = options.timeoutMs ?? 30_000;",
          symbol: "timeoutMs",
          commit: "9c1d6e0f7a3b5c2d4e6f8a0b1c3d5e7f9a2b4c6d",
        },
        state: "changed",
        found: { path: "src/net.ts", line: 4, lineEnd: 4, text: "  const timeoutMs = options.timeoutMs ?? 60_000;" },
        cause: {
          commit: "1f2e3d4c5b6a79880716253443526170f9e8d7c6",
          author: "Ada",
          date: "2026-11-15",
          message: "Wait longer (#41)",
          pullRequest: 41,
        },
        problem: null,
        changedAt: "2026-11-15T12:00:00.000Z",
        jobId: "job_0mk3x9v2cq7d1t5y8w4z6",
        createdAt: "2026-11-01T12:00:00.000Z",
      },
    ],
  },
);
export type Claim = Static<typeof Claim>;

export const ClaimList = Type.Object(
  {
    claims: Type.Array(Type.Unsafe<Claim>({ $ref: "Claim#" })),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "Send it as `cursor` to get the next page; null on the last page.",
    }),
  },
  { additionalProperties: false, $id: "ClaimList", examples: [{ claims: [], nextCursor: null }] },
);
export type ClaimList = Static<typeof ClaimList>;

export const AddClaimBody = Type.Object(
  {
    page: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: "Page and line, or lines, that make the claim.",
      examples: ["docs/timeouts.md:12-14"],
    }),
    source: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description:
        "File and line, or lines, that it relies on: `path:line` in the project's own repository, `@name/path:line` in the context repository `name`.",
      examples: ["@api/src/net.ts:4"],
    }),
  },
  { $id: "AddClaimBody", description: "Unknown fields are ignored." },
);
export type AddClaimBody = Static<typeof AddClaimBody>;

const claimOperation = { tags: ["Claims"], security: [{ adminKey: [] }] };
const ClaimParams = Type.Object({ projectId, id: Type.String({ description: "The claim's identifier." }) });

export const listClaimsOperation = {
  ...claimOperation,
  operationId: "listClaims",
  summary: "List claims",
  description: "Lists the project's claims by page and line, in pages.",
  params: ProjectParams,
  querystring: Type.Object({
    page: Type.Optional(Type.String({ description: "Only claims of this page: its path in the repository." })),
    state: Type.Optional(Type.Enum(claimStates, { type: "string", description: "Only claims in this state." })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: claimsPerPageMax, default: claimsPerPage, description: "Claims per page." }),
    ),
    cursor: Type.Optional(Type.String({ description: "The `nextCursor` of the previous page." })),
  }),
  response: {
    200: jsonAnswer("A page of claims.", "ClaimList"),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    404: refusals.notFound,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const addClaimOperation = {
  ...claimOperation,
  operationId: "addClaim",
  summary: "Add claim",
  description:
    "Binds lines of a page to the lines of code that they rely on. The claim is `new` until a worker has read both.",
  params: ProjectParams,
  body: { $ref: "AddClaimBody#" },
  response: {
    201: jsonAnswer("The claim.", "Claim"),
    400: refusals.invalidRequest,
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    413: refusals.payloadTooLarge,
    415: refusals.unsupportedMediaType,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const confirmClaimOperation = {
  ...claimOperation,
  operationId: "confirmClaim",
  summary: "Confirm claim",
  description:
    "Says that the page is right about the changed lines. The claim then stands for the lines as they are now. No body is needed.",
  params: ClaimParams,
  response: {
    200: jsonAnswer("The claim.", "Claim"),
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    409: refusals.claimConflict,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};

export const removeClaimOperation = {
  ...claimOperation,
  operationId: "removeClaim",
  summary: "Remove claim",
  description: "Removes a claim. The page does not change. No body is needed.",
  params: ClaimParams,
  response: {
    200: jsonAnswer("The claim as it was.", "Claim"),
    401: refusals.unauthorized,
    403: refusals.forbidden,
    404: refusals.notFound,
    500: refusals.internal,
    503: refusals.unavailable,
  },
};
