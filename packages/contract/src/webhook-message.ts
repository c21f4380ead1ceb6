import { type Static, type TSchema, Type } from "typebox";
import type { AgentJob } from "./agent-job.ts";
import { failureCodes } from "./errors.ts";
import { PullRequestState } from "./pull-request.ts";

/** What webhooks can be told of. */
export const webhookEvents = [
  "job.completed",
  "job.failed",
  "job.archived",
  "pull_request.merged",
  "pull_request.closed",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

const record = { additionalProperties: false };

const data = {
  projectId: Type.String({ description: "The job's project." }),
  job: Type.Unsafe<AgentJob>({ $ref: "AgentJob#" }),
  title: Type.Union([Type.String(), Type.Null()], { description: "The pull request's title; null if there is none." }),
  failure: Type.Union(
    [Type.Object({ code: Type.Enum(failureCodes, { type: "string" }), message: Type.String() }, record), Type.Null()],
    { description: "Why the job failed; null: it did not." },
  ),
};
const aboutJob = Type.Object({ ...data, pullRequest: Type.Union([PullRequestState, Type.Null()]) }, record);
const aboutPullRequest = Type.Object({ ...data, pullRequest: PullRequestState }, record);

function messageOf<Name extends WebhookEvent, Data extends TSchema>(type: Name, data: Data) {
  const timestamp = Type.String({ format: "date-time", description: "When it happened." });
  const name = Type.Literal(type, { type: "string", description: "What happened." });
  return Type.Object({ type: name, timestamp, data }, { ...record, title: type });
}

/** What is posted to a webhook of the format `standard`. */
export const WebhookMessage = Type.Union(
  [
    messageOf("job.completed", aboutJob),
    messageOf("job.failed", aboutJob),
    messageOf("job.archived", aboutJob),
    messageOf("pull_request.merged", aboutPullRequest),
    messageOf("pull_request.closed", aboutPullRequest),
  ],
  {
    $id: "WebhookMessage",
    description: "The message to a webhook with the format `standard`. `job` is the job at that moment.",
    examples: [
      {
        type: "job.completed",
        timestamp: "2026-03-02T09:15:42.120Z",
        data: {
          projectId: "prj_0mk3x9v2cq7d1t5y8w4z6",
          job: {
            id: "job_0mk3x9v2cq7d1t5y8w4z6",
            status: "completed",
            source: { repository: "https://github.com/acme/docs", ref: "emend/job_0mk3x9v2cq7d1t5y8w4z6" },
            model: "emend/rules",
            prLink: "https://github.com/acme/docs/pull/42",
            createdAt: "2026-03-02T09:15:00.000Z",
            archivedAt: null,
          },
          title: "Rename the authentication guide",
          failure: null,
          pullRequest: { number: 42, url: "https://github.com/acme/docs/pull/42", state: "open", draft: false },
        },
      },
    ],
  },
);
export type WebhookMessage = Static<typeof WebhookMessage>;
