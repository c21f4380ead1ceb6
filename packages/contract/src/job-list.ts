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
