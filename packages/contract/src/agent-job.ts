import { type Static, Type } from "typebox";

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
