import type { AgentJob, JobStatus } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { EmendError } from "./errors.ts";
import type { ApiResponse } from "./exchange.ts";

// A record, so that the compiler notices a status that is added to the contract.
const statuses: Record<JobStatus, true> = { active: true, completed: true, archived: true, failed: true };

/** The job in an answer; a proxy's page or another service's JSON is told apart from it. */
export function parseJob(deps: Connection, response: ApiResponse): AgentJob {
  let body: unknown;
  try {
    body = JSON.parse(response.text);
  } catch (cause) {
    throw notAJob(deps, response, cause);
  }
  if (!isJob(body)) throw notAJob(deps, response);
  return body;
}

function isJob(body: unknown): body is AgentJob {
  if (typeof body !== "object" || body === null) return false;
  if (!("id" in body) || typeof body.id !== "string") return false;
  return "status" in body && typeof body.status === "string" && Object.hasOwn(statuses, body.status);
}

function notAJob(deps: Connection, response: ApiResponse, cause?: unknown): EmendError {
  const message = `${deps.baseUrl} answered with something that is no Emend job; is baseUrl right?`;
  return new EmendError("invalid_response", message, { status: response.status, cause });
}
