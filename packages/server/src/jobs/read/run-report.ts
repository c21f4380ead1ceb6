import { promisify } from "node:util";
import { inflate } from "node:zlib";
import {
  type AskedConstruct,
  type FailureCode,
  findingsShownMax,
  type JobPhase,
  type JobRun,
  type JobStatus,
  stepsShownMax,
} from "@emend/contract";
import type { Finding } from "@emend/site";
import type { Queryable } from "../../db/pool.ts";
import { isApprovable } from "../answer-approval.ts";
import { isRetryable } from "../job-actions.ts";
import { toPullRequest } from "../pull-requests.ts";
import { isJobId } from "../wire-job.ts";
import { diffFiles } from "./diff.ts";

interface RunRow
  extends Pick<JobRun, "id" | "status" | "phase" | "prompt" | "model" | "title" | "summary" | "preview" | "plan"> {
  context: JobRun["context"];
  sources: readonly (Pick<JobRun["sources"][number], "repository" | "path" | "line" | "commit"> & {
    supports?: string;
    cited?: { lineEnd: number; text: string };
  })[];
  created_by: string;
  failure_code: NonNullable<JobRun["failure"]>["code"] | null;
  failure_message: string | null;
  waiting_since: string | null;
  /** Since when the forge owes an answer to the request that opens the pull request. */
  creating_since: string | null;
  waiting_words: string | null;
  waiting_for: "forge" | "disk" | "answer" | "approval";
  options: readonly string[] | null;
  constructs: readonly (AskedConstruct & { id?: string; key?: string | null })[] | null;
  is_approvable: boolean;
  declined_by: string | null;
  refused: string | null;
  /** Of a service that was unavailable, until the next attempt. */
  retried: { code: string; message: string; since: string } | null;
  nobody_works: string | null;
  next_try_at: string | null;
  is_retryable: boolean;
  notices: readonly string[];
  limit_reached: JobRun["limitReached"];
  usage: Partial<JobRun["usage"] & { steps: number }> | null;
  findings: StoredVerdict | null;
  base_commit: string | null;
  base_branch: string | null;
  pull_request: JobRun["pullRequest"];
  runs: number;
  crashes: number;
  created_at: string;
  started_at: string | null;
  updated_at: string;
  ended_at: string | null;
  archived_at: string | null;
  steps: readonly { at: string; data: Partial<JobRun["steps"]["latest"][number]> }[];
}

/** SQL: why no process takes jobs; null if one does, or none runs. */
const nobodyWorks = `(select min(problem) from nodes where role <> 'api' and seen_at > now() - interval '1 minute'
  having bool_and(problem is not null))`;

/** Everything about a job that its nine fields do not include. Null if the project has no such job. */
export async function readRun(db: Queryable, job: { id: string; projectId: string }): Promise<JobRun | null> {
  if (!isJobId(job.id)) return null;
  const { rows } = await db.query<RunRow>({
    name: "read-run",
    text: `select id, status, phase, prompt, model, title, summary, created_by, failure_code, failure_message,
        limit_reached, usage, findings, coalesce(diff_base, base_commit) as base_commit, base_branch,
        pull_request, runs, crashes, preview,
        plan and not exists (select from job_messages where job_id = jobs.id) as plan, context, sources, notices, waiting_words, waiting_for,
        case when waiting_for = 'answer' then (select options from job_questions where job_id = jobs.id
          order by id desc limit 1) end as options,
        case when coalesce(${isApprovable}, false) then (select constructs from job_questions where job_id = jobs.id and constructs is not null
          order by id desc limit 1) end as constructs,
        coalesce(${isApprovable}, false) as is_approvable, case when failure_code = 'policy_denied' then (select case decision when 'declined' then decided_by end from job_questions
          where job_id = jobs.id order by id desc limit 1) end as declined_by,
        case when status = 'completed' and failure_code is null then refused end as refused, ${isRetryable} as is_retryable,
        case when phase = 'queued' and status = 'active' and lease is null then ${nobodyWorks} end as nobody_works,
        case when status = 'active' and lease is null and retries > 0 then (
          select jsonb_build_object('code', data ->> 'code', 'message', data ->> 'message', 'since', wire_time(created_at))
          from job_events where job_id = jobs.id and kind = 'phase' and data ->> 'reason' = 'retry'
          order by seq desc limit 1) end as retried,
        case when lease is not null and phase = 'publishing' and pull_request is null and create_until > clock_timestamp()
          and updated_at < clock_timestamp() - interval '5 seconds' then wire_time(updated_at) end as creating_since,
        wire_time(waiting_since) as waiting_since, case when lease is null then wire_time(run_after) end as next_try_at,
        wire_time(created_at) as created_at, wire_time(updated_at) as updated_at, wire_time(ended_at) as ended_at,
        wire_time(archived_at) as archived_at,
        (select wire_time(min(created_at)) from job_events where job_id = jobs.id and kind = 'run.started') as started_at,
        (select coalesce(jsonb_agg(jsonb_build_object('at', wire_time(created_at), 'data', data) order by seq), '[]')
           from (select * from job_events where job_id = jobs.id and kind = 'step'
                 order by seq desc limit ${stepsShownMax}) latest) as steps
      from jobs where id = $1 and project_id = $2`,
    values: [job.id, job.projectId],
  });
  return rows[0] === undefined ? null : toRun(rows[0]);
}

function toWaiting(row: RunRow): JobRun["waiting"] {
  const { waiting_since: since, nobody_works: words, next_try_at: nextTryAt, retried } = row;
  if (row.creating_since) {
    const message = "The forge has not answered yet whether it opened the pull request.";
    return { for: "forge", since: row.creating_since, nextTryAt: null, message };
  }
  if (since && row.waiting_for === "approval") {
    const until = nextTryAt ?? since;
    const message = row.waiting_words ?? "";
    return { for: "approval", since, nextTryAt: until, message, until, constructs: toConstructs(row) };
  }
  if (since) {
    const options = row.waiting_for === "answer" ? { options: [...(row.options ?? [])] } : {};
    return { for: row.waiting_for, since, nextTryAt, message: row.waiting_words ?? "", ...options };
  }
  if (retried) {
    const { code, message } = retried;
    return { for: code === "model_unavailable" ? "model" : "forge", since: retried.since, nextTryAt, message };
  }
  return words === null ? null : { for: "disk", since: row.updated_at, nextTryAt, message: words };
}

function toConstructs({ constructs }: RunRow): AskedConstruct[] {
  return (constructs ?? []).map(({ id: _, key: __, ...shown }) => shown);
}

function toRun(row: RunRow): JobRun {
  const { usage } = row;
  const findings = toFindings(row.findings);
  return {
    id: row.id,
    status: row.status,
    phase: row.phase,
    prompt: row.prompt,
    model: row.model,
    createdBy: row.created_by,
    title: row.title,
    summary: row.summary,
    failure: row.failure_code ? { code: row.failure_code, message: row.failure_message ?? "" } : null,
    waiting: toWaiting(row),
    isApprovable: row.is_approvable,
    ...(row.is_approvable && row.waiting_since === null && { unanswered: toConstructs(row) }),
    declinedBy: row.declined_by,
    refused: row.refused,
    isRetryable: row.is_retryable,
    notices: [...row.notices],
    limitReached: row.limit_reached,
    steps: { count: usage?.steps ?? 0, latest: row.steps.map(toStep) },
    usage: {
      inputTokens: usage?.inputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      cachedInputTokens: usage?.cachedInputTokens ?? 0,
      costUsd: usage?.costUsd ?? 0,
      secondReaderCostUsd: usage?.secondReaderCostUsd ?? 0,
    },
    findings: findings && {
      before: findings.before,
      after: findings.after,
      introducedCount: findings.introduced.length,
      fixedCount: findings.fixed.length,
      introduced: findings.introduced.slice(0, findingsShownMax).map(toFinding),
      fixed: findings.fixed.slice(0, findingsShownMax).map(toFinding),
      ...(findings.links && { links: { total: findings.links.total, unjudged: findings.links.unjudged } }),
    },
    violations: (row.findings?.violations ?? []).map(({ path, rule }) => ({ path, rule })),
    preview: row.preview,
    plan: row.plan,
    context: row.context.map(({ name, repositoryUrl, ref, commit }) => ({ name, repositoryUrl, ref, commit })),
    sources: row.sources.map(({ repository, path, line, commit, supports, cited }) => ({
      repository,
      path,
      line,
      lineEnd: cited?.lineEnd ?? line,
      commit,
      supports: supports ?? null,
      text: cited?.text ?? null,
    })),
    baseCommit: row.base_commit,
    baseBranch: row.base_branch,
    pullRequest: row.pull_request && toPullRequest(row.pull_request),
    runs: row.runs,
    crashes: row.crashes,
    timings: {
      createdAt: row.created_at,
      startedAt: row.started_at,
      updatedAt: row.updated_at,
      endedAt: row.ended_at,
      archivedAt: row.archived_at,
    },
  };
}

/** The stored finding has more, such as a fix that only tools can apply. */
export function toFinding({
  check,
  severity,
  path,
  line,
  column,
  message,
  dispute,
  certainty,
  why,
}: WireFinding): WireFinding {
  return {
    check,
    severity,
    path,
    line,
    column,
    message,
    ...(dispute !== undefined && { dispute }),
    ...(certainty && { certainty }),
    ...(why && { why }),
  };
}
type WireFinding = NonNullable<JobRun["findings"]>["fixed"][number];

function toStep({ at, data }: RunRow["steps"][number]): JobRun["steps"]["latest"][number] {
  return {
    number: data.number ?? 0,
    at,
    model: data.model ?? "",
    text: data.text ?? "",
    tools: data.tools ?? [],
  };
}

/** One stored turn. Null if it does not exist, or its messages were deleted. */
export async function readStep(
  db: Queryable,
  jobId: string,
  number: number,
): Promise<readonly Record<string, unknown>[] | null> {
  const { rows } = await db.query<{ messages: readonly Record<string, unknown>[] }>(
    "select coalesce(said, messages::json) as messages from steps where job_id = $1 and number = $2",
    [jobId, number],
  );
  return rows[0]?.messages ?? null;
}

/** A file as the job leaves it. Null if it was not edited, was deleted, or is no longer stored. */
export async function readEditedFile(db: Queryable, jobId: string, path: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ content: Buffer | null }>(
    "select content from overlay where job_id = $1 and path = $2",
    [jobId, path],
  );
  const content = rows[0]?.content ?? null;
  return content && promisify(inflate)(content);
}

/** What a job did, for people: the API's nine fields do not include it. */
export interface JobReport {
  status: JobStatus;
  phase: JobPhase;
  model: string;
  title: string | null;
  summary: string | null;
  findings: { before: number; after: number; introduced: readonly Finding[]; fixed: readonly Finding[] } | null;
  /** A unified diff. Empty if nothing changed. */
  diff: string;
  changedFiles: number;
  failure: { code: FailureCode; message: string } | null;
}

interface ReportRow extends Pick<JobReport, "status" | "phase" | "model" | "title" | "summary"> {
  findings: StoredVerdict | null;
  diff: Buffer | null;
  code: FailureCode | null;
  message: string | null;
}

export async function readReport(db: Queryable, jobId: string): Promise<JobReport | null> {
  const { rows } = await db.query<ReportRow>(
    `select status, phase, model, title, summary, findings, diff, failure_code as code, failure_message as message
       from jobs where id = $1`,
    [jobId],
  );
  const [row] = rows;
  if (!row) return null;
  const { code, message, ...same } = row;
  const diff = row.diff ? (await promisify(inflate)(row.diff)).toString("utf8") : "";
  return {
    ...same,
    findings: toFindings(row.findings),
    diff,
    changedFiles: diffFiles(diff).length,
    failure: code && { code, message: message ?? "" },
  };
}

/** The review's verdict as `record-change.ts` stored it. */
export interface StoredVerdict {
  kind?: string;
  findingsBefore?: number;
  findingsAfter?: number;
  /** `dispute`: why the agent considers the finding wrong. */
  introduced?: readonly (Finding & { dispute?: string })[];
  fixed?: readonly Finding[];
  links?: { total: number; unjudged: number };
  violations?: readonly { path: string; rule: string }[];
}

/** A denied change was not checked, so it has no findings. */
function toFindings(verdict: StoredVerdict | null): {
  before: number;
  after: number;
  introduced: (Finding & { dispute?: string })[];
  fixed: Finding[];
  links?: { total: number; unjudged: number };
} | null {
  if (!verdict || verdict.findingsBefore === undefined || verdict.findingsAfter === undefined) return null;
  const { findingsBefore: before, findingsAfter: after, introduced = [], fixed = [], links } = verdict;
  return { before, after, introduced: [...introduced], fixed: [...fixed], ...(links && { links }) };
}
