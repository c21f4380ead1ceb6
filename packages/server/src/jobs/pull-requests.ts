import type { PullRequestState } from "@emend/contract";
import { channels } from "../db/listener.ts";
import { type Queryable, toJsonb } from "../db/pool.ts";
import { type Lease, writeFenced } from "./run/leases.ts";

export type RecordedPullRequest = PullRequestState;

/** A forge's response has more, such as the whole description, which event readers do not need. */
export function toPullRequest({ number, url, state, draft }: PullRequestState): PullRequestState {
  return { number, url, state, draft };
}

/** The API shows the link only when the job ends: `end-run.ts` copies it. */
export async function recordPullRequest(db: Queryable, lease: Lease, pullRequest: RecordedPullRequest): Promise<void> {
  await writeFenced(db, lease, {
    set: "pull_request = $5::jsonb, pushed = true",
    values: [toJsonb(toPullRequest(pullRequest))],
    event: { kind: "pull_request", data: toPullRequest(pullRequest) },
  });
}

/**
 * Records what people did to a pull request after the job ended, with one event. It needs no lease, because no run writes
 * it. Returns what changed.
 */
export async function recordPullRequestState(
  db: Queryable,
  jobId: string,
  now: Pick<RecordedPullRequest, "state" | "draft">,
): Promise<"merged" | "other" | "same"> {
  const { rowCount } = await db.query(
    `with changed as (
       update jobs set pull_request = pull_request || jsonb_build_object('state', $2::text, 'draft', $3::boolean),
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 and (pull_request ->> 'state', (pull_request ->> 'draft')::boolean) is distinct from ($2, $3)
       returning id, event_seq, pull_request
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'pull_request', pull_request from changed
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [jobId, now.state, now.draft],
  );
  if (rowCount === 0) return "same";
  return now.state === "merged" ? "merged" : "other";
}

/** A job's newest commit. */
interface PublishedCommit {
  commit: string;
  /** Where the branch began. */
  base: string | null;
}

/** The commit whose results of CI the project wants to be read. */
export interface WatchedCommit extends PublishedCommit {
  /** How many repairs were started, and how many the project allows. */
  rounds: number;
  roundsMax: number;
}

/** A job whose open pull request is due for polling. */
export interface DuePullRequest {
  /** The forge\'s scheme and host. */
  origin: string;
  jobId: string;
  projectId: string;
  number: number;
  /** Whether the job has ended and would accept a message. */
  isFinal: boolean;
  heard: readonly string[];
  /** Null: the job failed or changed nothing. */
  published: PublishedCommit | null;
  ci: WatchedCommit | null;
  /** A kind of change that the project wants to be merged, and its commit. */
  merge: { commit: string; kind: "links" | "typos" } | null;
  /** The project wants a reminder after so many days without a comment, and they have passed. */
  remindAfterDays: number | null;
  branch: string;
  createdAt: Date;
  /** The last request to open the pull request has had its effect, and nobody has looked for a second one since. */
  createEnded: string | null;
  isFirstRound: boolean;
}

/** What a claim skips now. */
export interface Occupied {
  projectIds: readonly string[];
  /** Forges that have as many polls as one may have at once. */
  origins: readonly string[];
}
const nothingOccupied: Occupied = { projectIds: [], origins: [] };
const originOf = (projectId: string) =>
  `(select coalesce(substring(repository_url from '^[a-z]+://[^/]+'), '') from projects where projects.id = ${projectId})`;

const published =
  "jsonb_build_object('commit', commit_id, 'base', case when continues_branch then fork_commit else base_commit end)";

/** How far polls with one token may exceed their rate before they slow down. */
const burstSeconds = 60;

/**
 * Claims a due pull request and schedules its next poll: often while the job is young, rarely once it is a month old or
 * if a project has many. No poll starts while its token has used up its time; the longest waiting is next. One node at
 * a time polls a pull request; a crash only delays the next poll.
 */
export async function claimPullRequestPoll(
  db: Queryable,
  everyMs: number,
  except: Occupied = nothingOccupied,
): Promise<DuePullRequest | null> {
  const { rows } = await db.query<DuePullRequest>(
    `update jobs set pull_request_look_at = clock_timestamp() + greatest(
       make_interval(secs => $1),
       least(
         (clock_timestamp() - created_at) / 50,
         case when created_at > clock_timestamp() - interval '30 days' then interval '15 minutes' else interval '12 hours' end
       ),
       (select count(*) from jobs other where other.project_id = jobs.project_id and other.pull_request ->> 'state' = 'open')
         * interval '3 seconds'
     )
     where id = (
       select id from jobs
       where pull_request ->> 'state' = 'open' and coalesce(pull_request_look_at, '-infinity') <= clock_timestamp()
         and project_id <> all ($2) and ${originOf("jobs.project_id")} <> all ($4)
         and not exists (
           select from projects join poll_turns on credential_id = poll_credential
           where projects.id = jobs.project_id and spent_until > clock_timestamp() + make_interval(secs => $3)
         )
       order by pull_request_look_at nulls first limit 1 for update skip locked
     )
     returning id as "jobId", project_id as "projectId", ${originOf("jobs.project_id")} as origin, (pull_request ->> 'number')::int as number,
       status in ('completed', 'failed') as "isFinal", comments_heard as heard,
       case when status = 'completed' and commit_id is not null then ${published} end as published,
       case when status = 'completed' and commit_id is not null then (
         select ${published} || jsonb_build_object('rounds', (select count(*) from job_messages where job_id = jobs.id and created_by like 'ci/%'), 'roundsMax', allowed)
         from projects, lateral (select (settings ->> 'ciRepairRounds')::int as allowed) wanted
         where projects.id = jobs.project_id and allowed > 0
       ) end as ci,
       case when status = 'completed' and rounds = '[]' and base_conflict is null and exists (
         select from projects where projects.id = jobs.project_id and settings -> 'autoMerge' ? change_kind
       ) then jsonb_build_object('commit', commit_id, 'kind', change_kind) end as merge,
       (select days from projects, lateral (select (settings ->> 'reviewReminderDays')::float as days) wanted
         where projects.id = jobs.project_id and days > 0 and jobs.ended_at < clock_timestamp() - days * interval '1 day'
       ) as "remindAfterDays", branch, created_at as "createdAt", rounds = '[]' as "isFirstRound",
       case when status <> 'active' and create_until <= clock_timestamp() then create_until::text end as "createEnded"`,
    [everyMs / 1000, except.projectIds, burstSeconds, except.origins],
  );
  return rows[0] ?? null;
}

/**
 * Records how much of its token's time a poll used, for all nodes and projects with the token. Jobs that publish are
 * not limited by this.
 */
export async function chargePoll(
  db: Queryable,
  due: Pick<DuePullRequest, "projectId">,
  cost: { credentialId: string; spentMs: number; pauseMs: number },
): Promise<void> {
  const pauseSeconds = cost.pauseMs > 0 ? cost.pauseMs / 1000 + burstSeconds : 0;
  await db.query(
    `with named as (
       update projects set poll_credential = $2 where id = $1 and poll_credential is distinct from $2
     ), forgotten as (
       delete from poll_turns where spent_until < clock_timestamp() - interval '1 day' and credential_id <> $2
     )
     insert into poll_turns as turn (credential_id, spent_until)
     values ($2, clock_timestamp() + make_interval(secs => greatest($3::float, $4)))
     on conflict (credential_id) do update set spent_until = greatest(
       greatest(turn.spent_until, clock_timestamp()) + make_interval(secs => $3),
       clock_timestamp() + make_interval(secs => $4)
     )`,
    [due.projectId, cost.credentialId, cost.spentMs / 1000, pauseSeconds],
  );
}

/** Nothing can open a second pull request any more, and none was found. */
export async function clearCreateDeadline(db: Queryable, { jobId, createEnded }: DuePullRequest): Promise<void> {
  await db.query("update jobs set create_until = null where id = $1 and create_until = $2::timestamptz", [
    jobId,
    createEnded,
  ]);
}

/** A forge's webhook reported something: poll now. False if it is not an open pull request of a job. */
export async function hastenPoll(db: Queryable, input: { projectId: string; number: number }): Promise<boolean> {
  const { rowCount } = await db.query(
    `with due as (
       update jobs set pull_request_look_at = null
       where project_id = $1 and pull_request ->> 'state' = 'open' and (pull_request ->> 'number')::int = $2
       returning id
     )
     select pg_notify('${channels.lookDue}', id) from due`,
    [input.projectId, input.number],
  );
  return (rowCount ?? 0) > 0;
}

/** False if it was already handled, by any node. */
export async function markHandled(db: Queryable, jobId: string, commentId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update jobs set comments_heard = array_append(comments_heard, $2)
     where id = $1 and not ($2 = any (comments_heard))`,
    [jobId, commentId],
  );
  return rowCount === 1;
}

/** It could not be handled now: the next poll tries again. */
export async function unmarkHandled(db: Queryable, jobId: string, commentId: string): Promise<void> {
  await db.query("update jobs set comments_heard = array_remove(comments_heard, $2) where id = $1", [jobId, commentId]);
}

/** A job that was stopped while it waited for its forge, and may have opened its pull request before. */
export interface UnsurePublication {
  origin: string;
  jobId: string;
  projectId: string;
  branch: string;
  baseBranch: string | null;
  createdAt: Date;
}

/** After this, a forge that stays unavailable is not asked any more. */
const daysMax = 7;
const words =
  "The pull request was opened before the job was stopped, but the forge's answer was lost. Close it on the forge if you do not want it.";

/** Claims a due one and schedules the next attempt, in case the forge is still unavailable. */
export async function claimUnsurePublication(
  db: Queryable,
  everyMs: number,
  except: Occupied = nothingOccupied,
): Promise<UnsurePublication | null> {
  const { rows } = await db.query<UnsurePublication>(
    `update jobs set pull_request_look_at = clock_timestamp() + greatest(
       make_interval(secs => $1), (clock_timestamp() - ended_at) / 20
     )
     where id = (
       select id from jobs
       where publication_unsure and coalesce(pull_request_look_at, '-infinity') <= clock_timestamp()
         and ended_at > clock_timestamp() - interval '${daysMax} days' and project_id <> all ($2)
         and ${originOf("jobs.project_id")} <> all ($3)
       order by pull_request_look_at nulls first limit 1 for update skip locked
     )
     returning id as "jobId", project_id as "projectId", ${originOf("jobs.project_id")} as origin, branch, base_branch as "baseBranch", created_at as "createdAt"`,
    [everyMs / 1000, except.projectIds, except.origins],
  );
  return rows[0] ?? null;
}

/**
 * The forge answered: there is no pull request, or one that was not reported yet. Records it unless the job was
 * restarted meanwhile. None is no answer while a request may still open one: the next poll follows.
 */
export async function recordUnsurePublication(
  db: Queryable,
  jobId: string,
  found: RecordedPullRequest | null,
): Promise<void> {
  const isFound = found !== null;
  await db.query(
    `with changed as (
       update jobs set publication_unsure = false, pull_request_look_at = null, updated_at = clock_timestamp(),
         pull_request = coalesce($2::jsonb, pull_request), pr_link = coalesce($2::jsonb ->> 'url', pr_link),
         pushed = pushed or $4, ref = case when $4 then branch else ref end,
         notices = case when $4 then notices || to_jsonb($3::text) else notices end,
         event_seq = event_seq + $4::int
       where id = $1 and publication_unsure and ($4 or coalesce(create_until, '-infinity') <= clock_timestamp())
       returning id, event_seq, pull_request
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'pull_request', pull_request from changed where $4
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [jobId, isFound ? toJsonb(toPullRequest(found)) : null, words, isFound],
  );
}
