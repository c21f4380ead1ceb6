import { type Static, Type } from "typebox";

/** The default limit of a prompt, in Unicode code points. An installation can set its own. */
export const promptCodePointsMax = 100_000;
/** The limit of a branch name, in UTF-8 bytes. */
export const branchNameBytesMax = 200;

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
          "Create a diff without a pull request: the job ends normally, with `prLink` null and nothing pushed. It counts against the quota.",
      }),
    ),
  },
  { $id: "CreateJobBody", description: "Unknown fields are ignored." },
);
export type CreateJobBody = Static<typeof CreateJobBody>;
