import { type Static, Type } from "typebox";

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
