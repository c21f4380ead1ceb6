export type {
  AddClaimBody,
  AgentJob,
  Automation,
  AutomationRun,
  AutomationTrigger,
  Claim,
  ClaimList,
  ClaimState,
  CreateAutomationBody,
  CreateJobBody,
  EditAutomationBody,
  FailureCode,
  Gate,
  GateSummary,
  Health,
  JobDiff,
  JobEvent,
  JobEventKind,
  JobList,
  JobRun,
  JobStatus,
  MessageJobBody,
  RequestErrorCode,
  Upload,
  WebhookMessage,
} from "@emend/contract";
export type { Automations } from "./automations.ts";
export type { ClaimListOptions, Claims } from "./claims.ts";
export type { CallOptions, CallSettings, EmendOptions, WaitOptions } from "./connection.ts";
export { Emend, type Jobs, type Project } from "./emend.ts";
export { EmendError, type EmendErrorKind, type ErrorCode, type Quota } from "./errors.ts";
export type { Gates } from "./gates.ts";
export type { ListOptions, NewFile, StartedJob, StartOptions } from "./jobs.ts";
export type { EventsOptions } from "./stream-events.ts";
export { verifyWebhook, type WebhookEvent, type WebhookRequest } from "./verify-webhook.ts";
