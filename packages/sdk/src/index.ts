export type { AgentJob, CreateJobBody, JobDiff, JobEvent, JobList, JobRun, JobStatus } from "@emend/contract";
export type { EmendOptions } from "./connection.ts";
export { Emend, type Jobs } from "./emend.ts";
export { EmendError, type EmendErrorKind } from "./errors.ts";
export type { CreateOptions, ListOptions, StartedJob } from "./jobs.ts";
export type { EventsOptions } from "./stream-events.ts";
export { verifyWebhook, type WebhookEvent, type WebhookRequest } from "./verify-webhook.ts";
export type { WaitOptions } from "./wait-for-job.ts";
