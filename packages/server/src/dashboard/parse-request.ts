import { describeMistake } from "@emend/base/describe-mistake.ts";
import { type DashboardJob, jobStatuses } from "@emend/contract";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Clean } from "typebox/value";
import type { ProjectFilter } from "../accounts/projects/projects.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { isJobId } from "../jobs/wire-job.ts";
import type { JobFilter } from "./list-jobs.ts";

/**
 * Parses a body with a schema, or throws `invalid_request` with its first error. Nothing is coerced. Unknown fields are
 * removed, so that a spread cannot set fields that only the server may set.
 */
export function bodyParser<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const checker = Compile(schema);
  return (body) => {
    if (checker.Check(body)) return Clean(schema, body) as Static<T>;
    const [error] = checker.Errors(body);
    throw invalid(
      error ? `${describeMistake(error, []).replace(/^The input/, "The body")}.` : "The body is not valid.",
    );
  };
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

type Asked = Pick<DashboardJob, "options" | "messages" | "outcomes" | "isDiffSoFar" | "cancelledBy"> & {
  used: { steps: number; tokens: number; costUsd: number; ms: number };
};

interface Row extends Pick<DashboardJob, "isDiffSoFar" | "cancelledBy"> {
  status: string;
  rounds: readonly Round[];
  used: Asked["used"];
  last: Round;
  baseRef: string | null;
  model: string;
  draft: boolean | null;
  maxCostUsd: number | null;
  preview: boolean;
  messages: DashboardJob["messages"];
}

interface Round {
  message: number;
  title: string | null;
  summary: string | null;
  reply?: string | null;
  failure: string | null;
}

/** Of the steps that answer what was asked last: limits are about these. */
const usedSince = `(select jsonb_build_object('steps', count(*),
    'tokens', coalesce(sum((usage ->> 'inputTokens')::float + (usage ->> 'outputTokens')::float), 0),
    'costUsd', coalesce(sum((usage ->> 'costUsd')::float), 0),
    'ms', coalesce(sum((usage ->> 'durationMs')::float), 0))
  from steps where job_id = jobs.id
    and number > coalesce((select max(after_step) from job_messages where job_id = jobs.id), 0))`;

/** What was asked of a job, at first beyond its prompt and since, and what came of each. */
export async function readRequest(db: Queryable, id: string): Promise<Asked> {
  const { rows } = await db.query<Row>(
    `select base_ref as "baseRef", coalesce(chosen_model, model) as model, draft, max_cost_usd as "maxCostUsd", preview,
       (select coalesce(jsonb_agg(jsonb_build_object('number', number, 'prompt', prompt, 'createdBy', created_by,
          'at', wire_time(created_at)) order by number), '[]')
        from job_messages where job_id = jobs.id) as messages,
       status, rounds, cancelled_by as "cancelledBy", working_diff is not null as "isDiffSoFar", ${usedSince} as used,
       jsonb_build_object('message', (select count(*) from job_messages where job_id = jobs.id),
         'title', case when commit_id is not null or (preview and diff is not null) then title end,
         'summary', coalesce(failure_message, summary), 'reply', reply, 'failure', failure_code) as last
     from jobs where id = $1`,
    [id],
  );
  const [row] = rows;
  if (!row) throw new AppError("not_found", { publicMessage: "Job not found." });
  const { baseRef, model, draft, maxCostUsd, preview, messages, used, isDiffSoFar, cancelledBy } = row;
  const over = row.status === "active" ? row.rounds : [...row.rounds, row.last];
  return {
    options: {
      model,
      ...(baseRef !== null && { baseRef }),
      ...(draft !== null && { draft }),
      ...(maxCostUsd !== null && { maxCostUsd }),
      ...(preview && { preview }),
    },
    messages,
    outcomes: over.map(outcomeOf),
    used,
    isDiffSoFar,
    cancelledBy,
  };
}

function outcomeOf({ message, title, summary, reply, failure }: Round): DashboardJob["outcomes"][number] {
  const kind = failure !== null ? "failed" : title === null ? "unchanged" : "changed";
  return { message, kind, words: (kind === "changed" ? reply : null) ?? summary ?? "" };
}

const rowsPerPage = 50;
const idsMax = 50;
const searchLengthMax = 200;

/** Validates a listing's query. An empty value counts as absent. */
export function parseJobFilter(query: Record<string, unknown>): JobFilter {
  const search = searchOf(query.search);
  const status = textOf(query.status);
  const known = jobStatuses.find((each) => each === status) ?? null;
  if (status !== null && known === null) throw invalidFilter(`status must be one of ${jobStatuses.join(", ")}.`);
  return {
    projectId: idOf(query.project, "project"),
    status: known,
    search,
    ids: idsOf(query.ids),
    before: idOf(query.cursor, "cursor"),
    limit: rowsPerPage,
  };
}

export function parseProjectFilter(query: Record<string, unknown>): ProjectFilter {
  return {
    search: searchOf(query.search),
    ids: idsOf(query.ids),
    after: idOf(query.cursor, "cursor"),
    limit: rowsPerPage,
  };
}

function searchOf(given: unknown): string | null {
  const search = textOf(given);
  if (search === null || (search.length <= searchLengthMax && !search.includes("\0"))) return search;
  throw invalidFilter(`search must have at most ${searchLengthMax} characters.`);
}

function idOf(given: unknown, name: string): string | null {
  const id = textOf(given);
  if (id !== null && !isJobId(id)) throw invalidFilter(`${name} is not one that this service gave.`);
  return id;
}

function idsOf(given: unknown): readonly string[] | null {
  const ids = textOf(given)?.split(",") ?? null;
  if (ids === null || (ids.length <= idsMax && ids.every(isJobId))) return ids;
  throw invalidFilter(`ids must be at most ${idsMax}, each one that this service gave.`);
}

function textOf(given: unknown): string | null {
  return typeof given === "string" && given !== "" ? given : null;
}

function invalidFilter(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** The app's pages, as its router names them. */
const pages = [
  "batch",
  "connect",
  "jobs",
  "keys",
  "projects",
  "health",
  "usage",
  "pulls",
  "gates",
  "settings",
  "start",
  "inbox",
  "github-app",
  "docs",
  "search",
];
const segment = "[A-Za-z0-9_-]{1,100}";
const path = new RegExp(`^/app(/((${pages.join("|")})(/${segment}){0,3})?)?$`);
const query = /^[\w\-.~%+=&]{0,1000}$/;

/**
 * Only a page of the dashboard: prevents an open redirect after login. Paths may not contain dots or escapes, so that
 * none can climb, however a browser or proxy reads it.
 */
export function pathInApp(to: unknown): string {
  if (typeof to !== "string") return "/app";
  const [before = "", ...after] = to.split("?");
  const search = after.join("?");
  if (!path.test(before)) return "/app";
  return search === "" || !query.test(search) ? before : `${before}?${search}`;
}
