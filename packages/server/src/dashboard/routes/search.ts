import { acquireForResponse, createKeyedSemaphore } from "@emend/base/locks.ts";
import type { DashboardSearch } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { listProjectPage } from "../../accounts/projects/projects.ts";
import type { Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { isPageOf } from "../find.ts";
import { listJobs } from "../list-jobs.ts";
import { parseProjectFilter } from "../parse-request.ts";
import { subjectOf } from "../require-session.ts";

/** Each asks git about the pages of several projects. */
const bounds = { perHolderMax: 2, allMax: 4 };
const textLengthMin = 2;
const shownMax = 20;
const perProjectMax = 5;
const projectsMax = 20;
/** Of the newest pull requests. */
const scannedMax = 5_000;
const searchMsMax = 5_000;

/** Jobs, pull requests that Emend hosts, pages and findings with a text in them. */
export function searchRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const seats = createKeyedSemaphore(bounds);
  app.get("/search", async (request, reply): Promise<DashboardSearch> => {
    const { search: text } = parseProjectFilter({ search: (request.query as { text?: unknown }).text });
    if (text === null || text.length < textLengthMin) {
      throw new AppError("invalid_request", { publicMessage: `text must have at least ${textLengthMin} characters.` });
    }
    if (!acquireForResponse(seats, subjectOf(request), reply.raw)()) {
      throw new AppError("rate_limited", { publicMessage: "A search is running.", retryAfterMs: 1_000 });
    }
    const like = `%${text.replace(/[\\%_]/g, "\\$&")}%`;
    const none = { projectId: null, status: null, ids: null, before: null };
    const [{ jobs }, pulls, findings, pages] = await Promise.all([
      listJobs(deps.lateReads, { ...none, search: text, limit: shownMax }),
      findPulls(deps.lateReads, like),
      findFindings(deps.lateReads, like),
      findPages(deps, text),
    ]);
    return { jobs, pulls, findings, pages };
  });
}

async function findPulls(db: Queryable, like: string): Promise<DashboardSearch["pulls"]> {
  const { rows } = await db.query<DashboardSearch["pulls"][number]>(
    `select project_id as "projectId", number, title, state, draft
     from (select * from local_pull_requests order by created_at desc, project_id desc, number desc limit ${scannedMax}) newest
     where title ilike $1 order by created_at desc limit ${shownMax}`,
    [like],
  );
  return rows;
}

async function findFindings(db: Queryable, like: string): Promise<DashboardSearch["findings"]> {
  const { rows } = await db.query<DashboardSearch["findings"][number]>(
    `select project_id as "projectId", finding ->> 'check' as check, finding ->> 'severity' as severity,
       finding ->> 'path' as path, (finding ->> 'line')::int as line, finding ->> 'message' as message
     from site_checks, jsonb_array_elements(findings) finding
     where findings is not null and (finding ->> 'message' ilike $1 or finding ->> 'path' ilike $1)
     limit ${shownMax}`,
    [like],
  );
  return rows;
}

/** Of the first projects, as they were checked last. */
async function findPages(deps: RouteDeps, text: string): Promise<DashboardSearch["pages"]> {
  const signal = AbortSignal.timeout(searchMsMax);
  const { projects } = await listProjectPage(deps.lateReads, {
    search: null,
    ids: null,
    after: null,
    limit: projectsMax,
  });
  const found: DashboardSearch["pages"][number][] = [];
  for (const project of projects) {
    if (found.length >= shownMax || signal.aborted) break;
    const accepts = (path: string) => isPageOf(project, path);
    const search = { text, accepts, matchesMax: perProjectMax };
    const matches = await deps.searchPages(project.id, search, signal).catch((error) => {
      // What was found until then is shown.
      if (signal.aborted) return [];
      throw error;
    });
    for (const match of matches) {
      if (accepts(match.path)) found.push({ projectId: project.id, ...match, text: match.text.trim().slice(0, 300) });
    }
  }
  return found.slice(0, shownMax);
}
