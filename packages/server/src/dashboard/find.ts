import type { DashboardProject, DashboardPull, DashboardStep, JobStatus } from "@emend/contract";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { isJobId } from "../jobs/wire-job.ts";

/** A job of any project, or `not_found`. */
export async function findJob(db: Queryable, id: string): Promise<{ id: string; projectId: string }> {
  if (isJobId(id)) {
    const { rows } = await db.query<{ id: string; projectId: string }>({
      name: "dashboard-find-job",
      text: `select id, project_id as "projectId" from jobs where id = $1`,
      values: [id],
    });
    if (rows[0]) return rows[0];
  }
  throw new AppError("not_found", { publicMessage: "Job not found." });
}

/** Ids have this form. The database refuses some other texts, such as U+0000. */
const form = /^[0-9A-Za-z_-]{1,64}$/;

export function isId(text: unknown): text is string {
  return typeof text === "string" && form.test(text);
}

export async function findProject(db: Queryable, id: string): Promise<Project> {
  const project = isId(id) ? await getProject(db, id) : undefined;
  if (project) return project;
  throw new AppError("not_found", { publicMessage: "Project not found." });
}

const pathMax = 1_000;
/** Only text of the docs is shown: the repository may also have code that members have not been given. */
const pageForm = /\.(?:mdx?|markdown|mdown|rst|adoc|txt|html?)$/i;

export function isPageOf({ docsDir }: Project, path: string): boolean {
  const folder = docsDir.replace(/^(?:\.?\/)+|\/+$/g, "");
  const isInside = folder === "" || folder === "." || path.startsWith(`${folder}/`);
  const isPlain = path.length <= pathMax && path.isWellFormed() && !/\p{Cc}|(?:^|\/)\.{0,2}(?:\/|$)/u.test(path);
  return isInside && isPlain && pageForm.test(path);
}

export interface PullJob {
  id: string;
  status: JobStatus;
  /** The commit of its newest change. */
  commitId: string | null;
  model: string;
  findings: DashboardPull["findings"];
}

/** The job of this pull request. */
export async function findPullJob(db: Queryable, pull: { projectId: string; number: number }): Promise<PullJob | null> {
  const { rows } = await db.query<PullJob>(
    `select id, status, commit_id as "commitId", coalesce(chosen_model, model) as model, coalesce(findings -> 'introduced', '[]') as findings
     from jobs where project_id = $1 and pull_request ->> 'number' = $2::text order by id desc limit 1`,
    [pull.projectId, pull.number],
  );
  return rows[0] ?? null;
}

/** What Emend's status on a commit of the docs found: on pull requests of people, which have no job. */
export async function findGateFindings(
  db: Queryable,
  projectId: string,
  head: string,
): Promise<DashboardPull["findings"]> {
  const { rows } = await db.query<{ findings: DashboardPull["findings"] }>(
    `select findings from gate_statuses where project_id = $1 and head = $2 and context_id is null
     order by updated_at desc limit 1`,
    [projectId, head],
  );
  return rows[0]?.findings ?? [];
}

/** A project without its credential. */
export function showProject(
  deps: { defaultModel: string },
  project: Project,
  creates: ReadonlyMap<string, readonly number[]>,
): DashboardProject {
  const { id, name, forge, repositoryUrl, baseRef, docsDir, settings, hasCredential } = project;
  const createsByFiveMinutes = creates.get(id) ?? noCreates;
  return {
    id,
    name,
    forge,
    repositoryUrl,
    baseRef,
    docsDir,
    hasCredential,
    createdAt: project.createdAt.toISOString(),
    models: allowedModels(settings, deps.defaultModel),
    settings,
    createsThisHour: createsByFiveMinutes.reduce((sum, count) => sum + count, 0),
    createsByFiveMinutes,
  };
}

const textMax = 20_000;

/** A stored turn with its calls and their results. */
export function showStep(messages: readonly Record<string, unknown>[]): DashboardStep {
  const said = messages.filter(({ role }) => role === "assistant");
  const answers = new Map(messages.filter(({ role }) => role === "tool").map((answer) => [answer.callId, answer]));
  const calls = said.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls : []));
  return {
    text: shorten(said.map(({ text }) => String(text ?? "")).join("\n")),
    tools: calls.map((call: { id?: unknown; name?: unknown; input?: unknown }) => {
      const answer = answers.get(call.id);
      return {
        name: String(call.name ?? ""),
        input: shorten(JSON.stringify(call.input, null, 2) ?? ""),
        output: answer ? shorten(String(answer.output ?? "")) : null,
        isError: answer?.isError === true,
      };
    }),
  };
}

function shorten(text: string): string {
  return text.length <= textMax ? text : `${text.slice(0, textMax)}\n… ${text.length - textMax} more characters`;
}

const slots = 12;

/** Accepted creates of the last hour, by project and five minutes, oldest first: what the quota counts. */
export async function countCreates(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.query<{ id: string; slot: number; count: number }>(
    `select project_id as id, count(*)::int as count,
       least(${slots - 1}, floor(extract(epoch from clock_timestamp() - used_at) / 300))::int as slot
     from quota_uses where project_id = any ($1) and kind = 'create' and used_at > clock_timestamp() - interval '1 hour'
     group by project_id, slot`,
    [projectIds],
  );
  const creates = new Map<string, number[]>();
  for (const { id, slot, count } of rows) {
    const counts = creates.get(id) ?? Array<number>(slots).fill(0);
    counts[slots - 1 - slot] = count;
    creates.set(id, counts);
  }
  return creates;
}

const noCreates: readonly number[] = Array<number>(slots).fill(0);
