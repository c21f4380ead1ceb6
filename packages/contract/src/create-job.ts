import { type Static, Type } from "typebox";

/** What a client posts. Unknown fields are ignored; the optional ones are Emend's own additions. */
export const CreateJobBody = Type.Object(
  {
    prompt: Type.String({ minLength: 1, description: "The instruction the agent must carry out." }),
    baseRef: Type.Optional(
      Type.String({ minLength: 1, description: "Branch to start from instead of the project's." }),
    ),
    model: Type.Optional(Type.String({ minLength: 1, description: "A model that the project allows." })),
    draft: Type.Optional(Type.Boolean({ description: "Open the pull request as a draft." })),
    maxCostUsd: Type.Optional(
      Type.Number({ minimum: 0, description: "Cost limit of this job; it can only lower the project's." }),
    ),
  },
  { $id: "CreateJobBody" },
);
export type CreateJobBody = Static<typeof CreateJobBody>;
