export * from "./agent-job.ts";
export { refusals } from "./answers.ts";
export * from "./create-job.ts";
export * from "./failure-code.ts";
export { archiveJobOperation } from "./operations/archive-job.ts";
export { createJobOperation, idempotencyKeyLengthMax } from "./operations/create-job.ts";
export { getJobOperation, waitSecondsMax } from "./operations/get-job.ts";
export * from "./request-error-code.ts";
