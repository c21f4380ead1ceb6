import { type Static, Type } from "typebox";
import { uploadsPerPromptMax, uploadTypes } from "./upload-limits.ts";

export const jobStatuses = ["active", "completed", "archived", "failed"] as const;

/** The job as the API sends it: exactly nine documented fields (seven here, two in `source`). */
export const AgentJob = Type.Object(
  {
    id: Type.String({ description: "Unique identifier of the job." }),
    status: Type.Enum(jobStatuses, { type: "string", description: "Current state of the job." }),
    source: Type.Object(
      {
        repository: Type.String({ description: "Full URL of the repository the job works on." }),
        ref: Type.Union([Type.String(), Type.Null()], {
          description: "Branch the agent works on; null once a job has ended without one.",
        }),
      },
      { additionalProperties: false, description: "Source repository information." },
    ),
    model: Type.String({ description: "The AI model used for the job." }),
    prLink: Type.Union([Type.String({ format: "uri" }), Type.Null()], {
      description:
        "URL of the pull request created by the agent. Null while the job is active, and null if no files were changed.",
    }),
    createdAt: Type.String({ format: "date-time", description: "When the job was created." }),
    archivedAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
      description: "When the job was archived.",
    }),
  },
  {
    additionalProperties: false,
    $id: "AgentJob",
    examples: [
      {
        id: "job_0mk3x9v2cq7d1t5y8w4z6",
        status: "completed",
        source: { repository: "https://github.com/acme/docs", ref: "emend/job_0mk3x9v2cq7d1t5y8w4z6" },
        model: "anthropic/claude-sonnet-4-5",
        prLink: "https://github.com/acme/docs/pull/42",
        createdAt: "2026-03-02T09:15:00.000Z",
        archivedAt: null,
      },
    ],
  },
);
export type AgentJob = Static<typeof AgentJob>;
export type JobStatus = AgentJob["status"];

export const ErrorBody = Type.Object(
  { error: Type.String({ description: "Error message." }) },
  { additionalProperties: false, $id: "Error" },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** A job's pull request, in all responses. */
export const PullRequestState = Type.Object(
  {
    number: Type.Integer(),
    url: Type.String(),
    state: Type.Enum(["open", "merged", "closed"] as const, { type: "string" }),
    draft: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type PullRequestState = Static<typeof PullRequestState>;

/** The default limit of a prompt, in Unicode code points. An installation can set its own. */
export const promptCodePointsMax = 100_000;
/** The limit of a branch name, in UTF-8 bytes. */
export const branchNameBytesMax = 200;

/** A picture or a document, for prompts and messages to name. */
export const Upload = Type.Object(
  {
    id: Type.String({ description: "For `files` of a prompt or a message." }),
    name: Type.String(),
    type: Type.Enum(uploadTypes, { type: "string" }),
    bytes: Type.Integer({ description: "What is stored: a picture without its metadata, or a document's text." }),
    width: Type.Union([Type.Integer(), Type.Null()]),
    height: Type.Union([Type.Integer(), Type.Null()]),
  },
  {
    additionalProperties: false,
    $id: "Upload",
    examples: [
      { id: "upl_0mk3x9v2cq7d1t5y8w4z6", name: "login.png", type: "image/png", bytes: 48213, width: 1280, height: 800 },
    ],
  },
);
export type Upload = Static<typeof Upload>;

const files = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
    maxItems: uploadsPerPromptMax,
    description:
      "Ids of uploads (`POST …/upload`) that the prompt is about: pictures, and documents of which the agent gets the text. Needs a language model; pictures need one that sees them.",
  }),
);

/** The body that a client posts. Unknown fields are ignored; the optional fields are Emend's additions. */
export const CreateJobBody = Type.Object(
  {
    prompt: Type.String({
      minLength: 1,
      maxLength: promptCodePointsMax,
      description:
        "The instruction the agent must carry out. White space counts as characters; U+0000 and lone surrogates are refused.",
      examples: ["Rename guides/auth to security/authentication and fix the links."],
    }),
    baseRef: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: branchNameBytesMax,
        description:
          "Branch to start from instead of the project's base branch: a valid git branch name of at most 200 bytes of UTF-8, without a leading `-`.",
      }),
    ),
    model: Type.Optional(Type.String({ minLength: 1, description: "A model that the project allows." })),
    draft: Type.Optional(Type.Boolean({ description: "Open the pull request as a draft." })),
    maxCostUsd: Type.Optional(
      Type.Number({
        minimum: 0,
        description: "Cost limit of this job in US dollars. It can only lower the project's limit.",
      }),
    ),
    preview: Type.Optional(
      Type.Boolean({
        description:
          "Create a diff without a pull request: the job ends normally, with `prLink` null and nothing pushed. `POST …/publish` publishes that very diff. It counts against the quota.",
      }),
    ),
    plan: Type.Optional(
      Type.Boolean({
        description:
          "Make a plan first: the job completes with the plan as its summary, and has changed nothing. A message (`POST …/message`) approves the plan or changes it, and the job carries it out. Needs a language model.",
      }),
    ),
    unknown: Type.Optional(
      Type.Enum(["ask", "draft", "refuse"] as const, {
        type: "string",
        description:
          "What happens to constructs that Emend does not know on this site, instead of the project's setting. `ask`: the job waits until a person approves (`POST …/approve`); `draft`: it opens a draft that lists them; `refuse`: it fails with `policy_denied`.",
      }),
    ),
    files,
  },
  { $id: "CreateJobBody", description: "Unknown fields are ignored." },
);
export type CreateJobBody = Static<typeof CreateJobBody>;

/** A message to a job. Unknown fields are ignored. */
export const MessageJobBody = Type.Object(
  { prompt: CreateJobBody.properties.prompt, files },
  { $id: "MessageJobBody", description: "Unknown fields are ignored." },
);
export type MessageJobBody = Static<typeof MessageJobBody>;

/** The body of an approval. Unknown fields are ignored. */
export const ApproveJobBody = Type.Object(
  {
    remember: Type.Optional(
      Type.Boolean({
        description: "Also allow these constructs on the project's site from now on, without a question.",
      }),
    ),
  },
  { $id: "ApproveJobBody", description: "Optional. Unknown fields are ignored." },
);
export type ApproveJobBody = Static<typeof ApproveJobBody>;

/** Something in a change that Emend does not know on the site. */
export const AskedConstruct = Type.Object(
  {
    path: Type.String(),
    line: Type.Integer({ minimum: 1, description: "The first changed line that it is on." }),
    text: Type.String({ description: "Its source, at most 500 characters." }),
    kind: Type.String({ description: "Such as `element`, `shortcode`, `role`, `directive` or `domain`." }),
    reason: Type.String({ description: "Why a person decides." }),
    count: Type.Integer({ minimum: 1, description: "How often the change has it in this file." }),
    around: Type.Union(
      [
        Type.Object(
          {
            line: Type.Integer({ minimum: 1, description: "The number of the first one." }),
            lines: Type.Array(Type.String()),
          },
          { additionalProperties: false },
        ),
        Type.Null(),
      ],
      { description: "The lines around it, as the page has them. Null: it is in no file." },
    ),
  },
  { additionalProperties: false },
);
export type AskedConstruct = Static<typeof AskedConstruct>;

export const jobsPerPageMax = 100;
export const jobsPerPage = 20;

/** One page of a project's jobs, newest first. */
export const JobList = Type.Object(
  {
    jobs: Type.Array(Type.Unsafe<AgentJob>({ $ref: "AgentJob#" })),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "Send it as `cursor` to get the next page; null on the last page.",
    }),
  },
  { additionalProperties: false, $id: "JobList", examples: [{ jobs: [], nextCursor: null }] },
);
export type JobList = Static<typeof JobList>;

/** The projects that a key covers, oldest first. */
export const ProjectList = Type.Object(
  {
    projects: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: "The project identifier, for the path of every other operation." }),
          name: Type.String({ description: "Its name; two projects may have the same." }),
          repository: Type.String({ description: "Full URL of its repository." }),
          baseRef: Type.Union([Type.String(), Type.Null()], {
            description: "Branch that jobs start from; null: the repository's default branch.",
          }),
        },
        { additionalProperties: false },
      ),
    ),
  },
  {
    additionalProperties: false,
    $id: "ProjectList",
    examples: [
      {
        projects: [
          { id: "prj_0mk3x9v2cq7d1t5y8w4z6", name: "Docs", repository: "https://github.com/acme/docs", baseRef: null },
        ],
      },
    ],
  },
);
export type ProjectList = Static<typeof ProjectList>;

/** What a job changed: the unified diff, and its files with their figures. */
export const JobDiff = Type.Object(
  {
    diff: Type.String({ description: "A unified diff in git's format; empty if nothing changed." }),
    files: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "The path after the change; for a deleted file, the path before it." }),
          change: Type.Enum(["added", "modified", "deleted", "renamed"] as const, { type: "string" }),
          additions: Type.Integer({ minimum: 0 }),
          deletions: Type.Integer({ minimum: 0 }),
          from: Type.Optional(Type.String({ description: "The path before the change, of a renamed file." })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  {
    additionalProperties: false,
    $id: "JobDiff",
    examples: [
      {
        diff: "diff --git a/index.mdx b/index.mdx\n--- a/index.mdx\n+++ b/index.mdx\n@@ -1 +1 @@\n-Sign in\n+Log in\n",
        files: [{ path: "index.mdx", change: "modified", additions: 1, deletions: 1 }],
      },
    ],
  },
);
export type JobDiff = Static<typeof JobDiff>;

/** Every forge that a project can be on. The database has the same list. */
export const forgeNames = ["local", "github", "gitlab", "gitea", "bitbucket", "azure-devops"] as const;
export type ForgeName = (typeof forgeNames)[number];
