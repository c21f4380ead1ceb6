export type { AgentJob, CreateJobBody, JobStatus } from "@emend/contract";
export type { EmendOptions } from "./connection.ts";
export type { CreateOptions } from "./create-job.ts";
export { Emend, type Jobs } from "./emend.ts";
export { EmendError, type EmendErrorKind } from "./errors.ts";
export type { WaitOptions } from "./wait-for-job.ts";
