import { type Static, Type } from "typebox";
import type { AgentJob } from "./agent-job.ts";

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
