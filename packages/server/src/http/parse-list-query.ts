import { type JobStatus, jobStatuses, jobsPerPage, jobsPerPageMax } from "@emend/contract";
import { AppError } from "../errors.ts";
import { fromCursor } from "../jobs/read/list-jobs.ts";

export interface ListQuery {
  status: JobStatus | null;
  limit: number;
  before: string | null;
}

/** Validates a listing's query. Unknown parameters are ignored. */
export function parseListQuery(projectId: string, query: Record<string, unknown>): ListQuery {
  const status = parseStatus(query.status);
  return { status, limit: parseLimit(query.limit), before: parseCursor({ projectId, status }, query.cursor) };
}

function parseStatus(given: unknown): JobStatus | null {
  if (given === undefined) return null;
  const status = jobStatuses.find((known) => known === given);
  if (status === undefined) throw invalid(`status must be one of ${jobStatuses.join(", ")}.`);
  return status;
}

function parseLimit(given: unknown): number {
  if (given === undefined) return jobsPerPage;
  const limit = typeof given === "string" && /^[0-9]{1,3}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > jobsPerPageMax) throw invalid(`limit must be a number from 1 to ${jobsPerPageMax}.`);
  return limit;
}

function parseCursor(listing: { projectId: string; status: JobStatus | null }, given: unknown): string | null {
  if (given === undefined) return null;
  const before = typeof given === "string" ? fromCursor(listing, given) : null;
  if (before === null) throw invalid("cursor is not valid for this list.");
  return before;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
