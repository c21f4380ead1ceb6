import type { AgentJob, JobStatus } from "@emend/contract";
import type { Connection } from "./connection.ts";
import type { ApiResponse } from "./exchange.ts";
import { parseBody } from "./parse-body.ts";

// A record, so that the compiler notices a status that is added to the contract.
const statuses: Record<JobStatus, true> = { active: true, completed: true, archived: true, failed: true };

export function parseJob(deps: Connection, response: ApiResponse): AgentJob {
  return parseBody(deps, response, { name: "job", is: isJob });
}

export function isJob(body: object): body is AgentJob {
  if (!("id" in body) || typeof body.id !== "string") return false;
  return "status" in body && typeof body.status === "string" && Object.hasOwn(statuses, body.status);
}
