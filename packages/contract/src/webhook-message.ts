import { type Static, type TSchema, Type } from "typebox";
import { failureCodes } from "./errors.ts";
import { type AgentJob, PullRequestState } from "./job.ts";
import { JobEventData } from "./job-event.ts";

/** The events that webhooks can receive. */
export const webhookEvents = [
  "job.completed",
  "job.failed",
  "job.archived",
  "job.question",
  "job.waiting",
  "pull_request.merged",
  "pull_request.closed",
  "budget.warning",
  "budget.exceeded",
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];
/** Sent to one webhook on request, whatever its events. */
export const webhookTest = "webhook.test";

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

const aboutQuestion = Type.Object(
  {
    projectId: data.projectId,
    job: data.job,
    question: Type.String({ description: "What the agent asks. Answer with a message to the job." }),
    options: Type.Array(Type.String(), { description: "Answers to choose from. Others are allowed too." }),
    answerUntil: Type.String({ format: "date-time", description: "When the agent continues with its best guess." }),
  },
  record,
);

const aboutWaiting = Type.Object(
  { projectId: data.projectId, job: data.job, waiting: JobEventData.properties["job.waiting"] },
  record,
);

const usedOf = (what: string) =>
  Type.Object({ used: Type.Number(), max: Type.Union([Type.Number(), Type.Null()]) }, { ...record, description: what });
const aboutBudget = Type.Object(
  {
    projectId: Type.String({ description: "The webhook's project." }),
    scope: Type.Enum(["project", "installation"], { type: "string", description: "Whose budget it is." }),
    month: Type.String({ description: "The calendar month (UTC), such as 2026-03." }),
    jobs: usedOf("Jobs created; `max` is null without a limit."),
    costUsd: usedOf("Dollars spent; `max` is null without a limit."),
  },
  record,
);
const aboutTest = Type.Object({ projectId: data.projectId }, record);

function messageOf<Name extends WebhookEvent | typeof webhookTest, Data extends TSchema>(type: Name, data: Data) {
  const timestamp = Type.String({ format: "date-time", description: "When it happened." });
  const name = Type.Literal(type, { type: "string", description: "What happened." });
  return Type.Object({ type: name, timestamp, data }, { ...record, title: type });
}

/** The body for a webhook with the format `standard`. */
export const WebhookMessage = Type.Union(
  [
    messageOf("job.completed", aboutJob),
    messageOf("job.failed", aboutJob),
    messageOf("job.archived", aboutJob),
    messageOf("job.question", aboutQuestion),
    messageOf("job.waiting", aboutWaiting),
    messageOf("pull_request.merged", aboutPullRequest),
    messageOf("pull_request.closed", aboutPullRequest),
    messageOf("budget.warning", aboutBudget),
    messageOf("budget.exceeded", aboutBudget),
    messageOf(webhookTest, aboutTest),
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
