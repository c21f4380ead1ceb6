import type { ReliedOn } from "@emend/base/repair-prompt.ts";
import type { CommitStatus, OpenPullRequest } from "@emend/forges";
import { type Queryable, toJsonb } from "../db/pool.ts";
import { newId } from "../lib/id.ts";

/** A status that Emend sets on the head of a pull request, with everything that its page shows. */
export interface GateStatus {
  id: string;
  projectId: string;
  /** Null: the docs repository. */
  contextId: string | null;
  /** The forge and the repository's address. */
  repository: string;
  head: string;
  name: string;
  number: number;
  pull: GatePull;
  state: CommitStatus["state"];
  words: string;
  findings: readonly GateFinding[];
  /** Null: not checked yet. */
  judgedFrom: string | null;
  judgedAt: Date | null;
  sent: string | null;
  refusal: string | null;
  jobId: string | null;
  commentsHeard: readonly string[];
  updatedAt: Date;
}

type GatePull = Pick<OpenPullRequest, "url" | "title" | "head" | "base" | "isFork">;

/** A place on a page, and why it is listed. */
export interface GateFinding {
  check: string;
  severity: "error" | "warning" | "info";
  path: string;
  line: number;
  message: string;
  /** The new name, if the change is a rename. */
  renamed?: { from: string; to: string };
  /** Of a link: the checks know one certain target. */
  isFixable?: true;
  /** Where the removed name was in the source repository. */
  causes?: readonly string[];
  /** Sources that may still have the name, and could not be read. */
  unread?: readonly string[];
  /** Absent if it is certain. */
  certainty?: "likely" | "unknown";
  /** Of a claim, and of what a model found: the page's text, and the lines of code that it relies on. */
  claim?: ReliedOn;
  /** Of a name that is gone: the line of the page, and the lines of code with the name and with the new one. */
  seen?: ReliedOn;
  /** What a model said. Absent: none was asked. */
  verdict?: { kind: "wrong docs" | "still right" | "cannot tell"; reason: string };
}

/** The project, the pull request and the name of its status. */
export interface GateSubject {
  projectId: string;
  contextId: string | null;
  /** The forge and the repository's address. */
  repository: string;
  name: string;
}

const columns = `id, project_id as "projectId", context_id as "contextId", repository, head, name, number, pull, state,
  words,
  findings, judged_from as "judgedFrom", judged_at as "judgedAt", sent, refusal, job_id as "jobId",
  comments_heard as "commentsHeard", updated_at as "updatedAt"`;

/** Bitbucket's lists contain abbreviated commit ids only. */
export async function findStatus(db: Queryable, subject: GateSubject, head: string): Promise<GateStatus | null> {
  const { rows } = await db.query<GateStatus>(
    `select ${columns} from gate_statuses where repository = $1 and starts_with(head, $2) and name = $3 and project_id = $4
     order by updated_at desc limit 1`,
    [subject.repository, head, subject.name, subject.projectId],
  );
  return rows[0] ?? null;
}

export async function getStatus(db: Queryable, id: string): Promise<GateStatus | null> {
  const { rows } = await db.query<GateStatus>(`select ${columns} from gate_statuses where id = $1`, [id]);
  return rows[0] ?? null;
}

/** The newest statuses of a project, or of all projects. */
export async function listStatuses(db: Queryable, projectId: string | null): Promise<readonly GateStatus[]> {
  const { rows } = await db.query<GateStatus>(
    `select ${columns} from gate_statuses ${projectId === null ? "" : "where project_id = $1"}
     order by updated_at desc limit 100`,
    projectId === null ? [] : [projectId],
  );
  return rows;
}

/** The heads whose status the forge refused last time. */
export async function listRefused(db: Queryable, subject: GateSubject): Promise<readonly string[]> {
  const { rows } = await db.query<{ head: string }>(
    "select head from gate_statuses where repository = $1 and name = $2 and project_id = $3 and refusal is not null",
    [subject.repository, subject.name, subject.projectId],
  );
  return rows.map(({ head }) => head);
}

/** A status with its fencing token: once another node takes the lease, the previous holder can write nothing. */
export interface HeldStatus extends GateStatus {
  lease: string;
}

/** Null: another project uses this name on the same commit. */
export async function holdStatus(
  db: Queryable,
  subject: GateSubject,
  head: string,
  pull: OpenPullRequest,
): Promise<HeldStatus | null> {
  const { number, url, title, head: branch, base, isFork } = pull;
  const { rows } = await db.query<HeldStatus>(
    `insert into gate_statuses (id, project_id, context_id, repository, head, name, number, pull, words, lease, job_id, comments_heard)
     select $1, $2, $3, $4, $5, $6, $7, $8, 'Emend has not checked this commit yet.', gen_random_uuid(),
       -- What was asked for on an earlier commit of the pull request holds for this one.
       (select job_id from gate_statuses where repository = $4 and number = $7 and name = $6 and project_id = $2
          and job_id is not null order by created_at desc limit 1),
       coalesce((select array_agg(distinct heard) from gate_statuses earlier, unnest(comments_heard) heard
          where repository = $4 and number = $7 and name = $6 and project_id = $2), '{}')
     on conflict (repository, head, name) do update set lease = excluded.lease, number = excluded.number, pull = excluded.pull
       where gate_statuses.project_id = excluded.project_id
     returning ${columns}, lease`,
    [
      newId("gat"),
      subject.projectId,
      subject.contextId,
      subject.repository,
      head,
      subject.name,
      number,
      toJsonb({ url, title, head: branch, base, isFork } satisfies GatePull),
    ],
  );
  return rows[0] ?? null;
}

/** False: another node has taken the lease, so this one must stop. */
export async function saveVerdict(
  db: Queryable,
  held: HeldStatus,
  verdict: Pick<GateStatus, "state" | "words" | "findings" | "judgedFrom">,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update gate_statuses set state = $3, words = $4, findings = $5, judged_from = $6,
       judged_at = case when $6::text is null then judged_at else clock_timestamp() end, updated_at = clock_timestamp()
     where id = $1 and lease = $2`,
    [held.id, held.lease, verdict.state, verdict.words, toJsonb(verdict.findings), verdict.judgedFrom],
  );
  return rowCount === 1;
}

/**
 * Records whether the forge accepted the status. A node that lost its lease may have sent an old one: then the status is
 * sent again.
 */
export async function recordSentStatus(
  db: Queryable,
  held: HeldStatus,
  outcome: { sent: string | null; refusal: string | null },
): Promise<void> {
  await db.query(
    `update gate_statuses set sent = case when lease = $2 then $3 end, refusal = case when lease = $2 then $4 else refusal end
     where id = $1`,
    [held.id, held.lease, outcome.sent, outcome.refusal],
  );
}

/**
 * The newest job that fixes the docs for a pull request, whichever of its commits it was asked for on: its open pull
 * request, and whether it failed.
 */
export async function findDocsJob(
  db: Queryable,
  subject: GateSubject,
  number: number,
): Promise<{ pull: { branch: string; number: number } | null; hasFailed: boolean }> {
  const { rows } = await db.query<{ branch: string; number: number | null; hasFailed: boolean }>(
    `select branch, status = 'failed' as "hasFailed",
       case when pull_request ->> 'state' = 'open' then (pull_request ->> 'number')::int end as number
     from jobs where id = (
       select job_id from gate_statuses where repository = $1 and number = $2 and name = $3 and project_id = $4
         and job_id is not null order by created_at desc limit 1)`,
    [subject.repository, number, subject.name, subject.projectId],
  );
  const [job] = rows;
  const pull = job && job.number !== null ? { branch: job.branch, number: job.number } : null;
  return { pull, hasFailed: job?.hasFailed === true };
}

/** False: this node or another has handled it already. */
export async function markCommentHandled(db: Queryable, id: string, commentId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update gate_statuses set comments_heard = array_append(comments_heard, $2)
     where id = $1 and not ($2 = any (comments_heard))`,
    [id, commentId],
  );
  return rowCount === 1;
}

/** Whether a job of the project opened this pull request. If so, comments on it go to that job. */
export async function isOfJob(db: Queryable, projectId: string, number: number): Promise<boolean> {
  const { rowCount } = await db.query(
    "select from jobs where project_id = $1 and pull_request ->> 'number' = $2::text limit 1",
    [projectId, number],
  );
  return rowCount === 1;
}

/** Records when a repository was checked, and the error. `notBeforeMs`: the forge's Retry-After. */
export async function recordPoll(
  db: Queryable,
  subject: Pick<GateSubject, "projectId" | "contextId">,
  outcome: { problem: string | null; notBeforeMs: number },
): Promise<void> {
  await db.query(
    `insert into gate_looks (project_id, context_id, problem, not_before)
     select $1, $2, $3, clock_timestamp() + make_interval(secs => $4) where exists (select from projects where id = $1)
     on conflict (project_id, context_id) do update set looked_at = excluded.looked_at, problem = excluded.problem,
       not_before = excluded.not_before`,
    [subject.projectId, subject.contextId ?? "", outcome.problem, outcome.notBeforeMs / 1000],
  );
}

/** The project's repositories whose forges asked for a pause that is not over. The docs repository is "". */
export async function listResting(db: Queryable, projectId: string): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    "select context_id as id from gate_looks where project_id = $1 and not_before > clock_timestamp()",
    [projectId],
  );
  return new Set(rows.map(({ id }) => id));
}

export interface GatePoll {
  contextId: string | null;
  lookedAt: Date;
  problem: string | null;
}

export async function listPolls(db: Queryable, projectId: string): Promise<readonly GatePoll[]> {
  const { rows } = await db.query<GatePoll>(
    `select nullif(context_id, '') as "contextId", looked_at as "lookedAt", problem from gate_looks
     where project_id = $1 order by context_id`,
    [projectId],
  );
  return rows;
}

const lookEverySeconds = 300;

/** Every repository of every project whose pull requests are checked. The docs repository is "". */
const gated = `
  with level as (
    select id, forge, settings -> 'gate' ->> 'docs' as docs, settings -> 'gate' ->> 'sources' as sources from projects
  ), place as (
    select id, '' as context_id, coalesce(docs, case when forge = 'local' then 'neutral' else 'off' end) as level from level
    union all
    select level.id, repository.id, coalesce(sources, case when repository.forge = 'local' then 'neutral' else 'off' end)
    from level join context_repositories repository on repository.project_id = level.id
  ), gated as (select id, context_id from place where level <> 'off')`;

/** Repositories whose last check is a while ago. Webhooks and the local forge trigger a check sooner. */
export async function listDueGates(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `${gated}
     select distinct gated.id from gated
       left join gate_looks look on look.project_id = gated.id and look.context_id = gated.context_id
     where coalesce(greatest(look.looked_at + make_interval(secs => $1), look.not_before) <= clock_timestamp(), true)`,
    [lookEverySeconds],
  );
  return rows.map(({ id }) => id);
}

export async function isGated(db: Queryable, projectId: string): Promise<boolean> {
  const { rowCount } = await db.query(`${gated} select from gated where id = $1 limit 1`, [projectId]);
  return (rowCount ?? 0) > 0;
}
