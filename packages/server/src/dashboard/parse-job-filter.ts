import { jobStatuses } from "@emend/contract";
import { AppError } from "../errors.ts";
import { isJobId } from "../jobs/job-id.ts";
import type { JobFilter } from "./list-jobs.ts";

const rowsPerPage = 50;
const idsMax = 50;
const searchLengthMax = 200;

/** Checks a listing's query; an empty value is none. */
export function parseJobFilter(query: Record<string, unknown>): JobFilter {
  const search = textOf(query.search);
  if (search !== null && (search.length > searchLengthMax || search.includes("\0"))) {
    throw invalid(`search must have at most ${searchLengthMax} characters.`);
  }
  const status = textOf(query.status);
  const known = jobStatuses.find((each) => each === status) ?? null;
  if (status !== null && known === null) throw invalid(`status must be one of ${jobStatuses.join(", ")}.`);
  return {
    projectId: idOf(query.project, "project"),
    status: known,
    search,
    ids: idsOf(query.ids),
    before: idOf(query.cursor, "cursor"),
    limit: rowsPerPage,
  };
}

function idOf(given: unknown, name: string): string | null {
  const id = textOf(given);
  if (id !== null && !isJobId(id)) throw invalid(`${name} is not one that this service gave.`);
  return id;
}

function idsOf(given: unknown): readonly string[] | null {
  const ids = textOf(given)?.split(",") ?? null;
  if (ids === null || (ids.length <= idsMax && ids.every(isJobId))) return ids;
  throw invalid(`ids must be at most ${idsMax}, each one that this service gave.`);
}

function textOf(given: unknown): string | null {
  return typeof given === "string" && given !== "" ? given : null;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
