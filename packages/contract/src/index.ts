export * from "./agent-job.ts";
export * from "./create-job.ts";
export * from "./failure-code.ts";
