import type { CommitStatus, PullRequestChange, PullRequestCheck, PullRequestDraft } from "@emend/forges";
import { channels } from "../../db/listener.ts";
import type { Client, Queryable } from "../../db/pool.ts";
import { newId } from "../../lib/id.ts";
import { compareBranches, isAncestor, readTips } from "./read-diff.ts";
import { gitOutput, type Repository } from "./repository.ts";

/** A row of local_pull_requests. */
export interface LocalPullRequest {
  number: number;
  headRef: string;
  baseRef: string;
  title: string;
  body: string;
  draft: boolean;
  checks: readonly PullRequestCheck[];
  state: "open" | "merged" | "closed";
  /** The commits that the diff compared last, while both branches existed. */
  baseCommit: string;
  headCommit: string;
  mergeCommit: string | null;
  mergedBy: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const columns = `number, head_ref as "headRef", base_ref as "baseRef", title, body, draft, checks, state,
  base_commit as "baseCommit", head_commit as "headCommit", merge_commit as "mergeCommit", merged_by as "mergedBy",
  created_at as "createdAt", updated_at as "updatedAt"`;

const listedMax = 200;

/** Null if the branch already has an open pull request. The unique index guarantees this under concurrency. */
export async function insertPullRequest(
  client: Client,
  projectId: string,
  draft: PullRequestDraft,
  commits: { base: string; head: string },
): Promise<LocalPullRequest | null> {
  // Numbers without gaps or duplicates need a lock. This one does not block inserts of jobs.
  await client.query("select from projects where id = $1 for no key update", [projectId]);
  const { rows } = await client.query<LocalPullRequest>(
    `insert into local_pull_requests
       (project_id, number, head_ref, base_ref, title, body, draft, checks, base_commit, head_commit)
     select $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9
     from local_pull_requests where project_id = $1
     on conflict (project_id, head_ref) where state = 'open' do nothing
     returning ${columns}`,
    [
      projectId,
      draft.head,
      draft.base,
      draft.title,
      draft.body,
      draft.draft,
      JSON.stringify(draft.checks),
      commits.base,
      commits.head,
    ],
  );
  return rows[0] ?? null;
}

export async function listPullRequestsOfHead(
  db: Queryable,
  projectId: string,
  head: string,
): Promise<readonly LocalPullRequest[]> {
  const { rows } = await db.query<LocalPullRequest>(
    `select ${columns} from local_pull_requests where project_id = $1 and head_ref = $2 order by number desc limit $3`,
    [projectId, head, listedMax],
  );
  return rows;
}

/** Newest first. */
export async function listOpen(db: Queryable, projectId: string): Promise<readonly LocalPullRequest[]> {
  const { rows } = await db.query<LocalPullRequest>(
    `select ${columns} from local_pull_requests where project_id = $1 and state = 'open' order by number desc limit $2`,
    [projectId, listedMax],
  );
  return rows;
}

export async function getPullRequest(
  db: Queryable,
  projectId: string,
  number: number,
): Promise<LocalPullRequest | null> {
  const { rows } = await db.query<LocalPullRequest>(
    `select ${columns} from local_pull_requests where project_id = $1 and number = $2`,
    [projectId, number],
  );
  return rows[0] ?? null;
}

/**
 * Git is the source of truth, even if somebody closed the pull request meanwhile. The site is another one now, so a
 * worker checks it at once: the task `check_site`, as `askSiteCheck` asks for it.
 */
export async function markMerged(
  db: Queryable,
  projectId: string,
  number: number,
  merge: { commit: string | null; by: string },
): Promise<void> {
  await db.query(
    `with merged as (
       update local_pull_requests
       set state = 'merged', draft = false, merge_commit = $3, merged_by = $4, updated_at = clock_timestamp()
       where project_id = $1 and number = $2 and state <> 'merged' returning project_id
     ), asked as (
       insert into tasks (kind, subject, due_at) select 'check_site', project_id, clock_timestamp() from merged
       on conflict (kind, subject) do update set asked = tasks.asked + 1, due_at = excluded.due_at
       returning kind
     )
     select pg_notify('${channels.taskDue}', '') from asked`,
    [projectId, number, merge.commit, merge.by],
  );
}

/** What the base branch is about to become: by it a merge that was cut off is known, a squashed one too. */
export async function noteMerge(
  db: Queryable,
  projectId: string,
  number: number,
  merge: { commit: string; by: string },
): Promise<void> {
  await db.query(
    `update local_pull_requests set merge_commit = $3, merged_by = $4
     where project_id = $1 and number = $2 and state = 'open'`,
    [projectId, number, merge.commit, merge.by],
  );
}

export async function markClosed(db: Queryable, projectId: string, number: number): Promise<void> {
  await db.query(
    `update local_pull_requests set state = 'closed', updated_at = clock_timestamp()
     where project_id = $1 and number = $2 and state = 'open'`,
    [projectId, number],
  );
}

export async function markReady(db: Queryable, projectId: string, number: number): Promise<void> {
  await db.query(
    `update local_pull_requests set draft = false, updated_at = clock_timestamp()
     where project_id = $1 and number = $2 and state = 'open' and draft`,
    [projectId, number],
  );
}

export async function saveCompared(
  db: Queryable,
  projectId: string,
  number: number,
  commits: { base: string; head: string },
): Promise<void> {
  await db.query(
    `update local_pull_requests set base_commit = $3, head_commit = $4, updated_at = clock_timestamp()
     where project_id = $1 and number = $2 and (base_commit, head_commit) is distinct from ($3, $4)`,
    [projectId, number, commits.base, commits.head],
  );
}

export async function saveChange(
  db: Queryable,
  projectId: string,
  number: number,
  { body, title, checks }: PullRequestChange,
): Promise<void> {
  await db.query(
    `update local_pull_requests set body = $3, title = coalesce($4, title), checks = coalesce($5, checks),
       updated_at = clock_timestamp()
     where project_id = $1 and number = $2
       and (body, title, checks) is distinct from ($3, coalesce($4, title), coalesce($5, checks))`,
    [projectId, number, body, title?.text ?? null, checks ? JSON.stringify(checks) : null],
  );
}

/**
 * Updates open pull requests from git, after a push or an interrupted merge: records what they compare, keeps the
 * head's commits in case its branch is deleted, and detects manual merges.
 */
export async function refreshOpenPullRequests(
  deps: { db: Queryable; repository: Repository },
  projectId: string,
  signal: AbortSignal,
): Promise<void> {
  for (const pullRequest of await listOpen(deps.db, projectId)) {
    await refreshLocalPullRequest(deps, projectId, pullRequest, signal);
  }
}

export async function refreshLocalPullRequest(
  deps: { db: Queryable; repository: Repository },
  projectId: string,
  pullRequest: LocalPullRequest,
  signal: AbortSignal,
): Promise<void> {
  const { db, repository } = deps;
  const { number, baseRef, headRef, headCommit, mergeCommit, mergedBy } = pullRequest;
  const baseTip = (await readTips(repository, [baseRef], signal)).get(baseRef);
  if (mergeCommit && baseTip && (await isAncestor(repository, { ancestor: mergeCommit, of: baseTip }, signal))) {
    await markMerged(db, projectId, number, { commit: mergeCommit, by: mergedBy ?? "a push" });
    return;
  }
  const compared = await compareBranches(repository, { base: baseRef, head: headRef }, signal);
  if (compared?.mergeBase && compared.mergeBase !== compared.head) {
    await keepHead(repository, number, compared.head, signal);
    await saveCompared(db, projectId, number, { base: compared.mergeBase, head: compared.head });
    return;
  }
  // The branch adds nothing to the base, or is gone. It counts as merged only if its commits are in the base.
  if (!baseTip || !(await isAncestor(repository, { ancestor: headCommit, of: baseTip }, signal))) return;
  await markMerged(db, projectId, number, { commit: null, by: "a push" });
}

/** A pull request outlives its branch. */
export async function keepHead(
  repository: Repository,
  number: number,
  head: string,
  signal: AbortSignal,
): Promise<void> {
  await gitOutput(repository, ["update-ref", `refs/pull/${number}/head`, head], signal);
}

/** A row of local_pull_request_comments. */
export interface LocalComment {
  id: string;
  author: string;
  body: string;
  createdAt: Date;
  /** It is the text of a review that requests changes. */
  requestsChanges: boolean;
}

const shownMax = 500;

/** Oldest first. If there are very many, only the latest. */
export async function listComments(db: Queryable, projectId: string, number: number): Promise<readonly LocalComment[]> {
  const { rows } = await db.query<LocalComment>(
    `select * from (
       select id, author, body, created_at as "createdAt", requests_changes as "requestsChanges" from local_pull_request_comments
       where project_id = $1 and number = $2 order by created_at desc, id limit $3
     ) latest order by "createdAt", id`,
    [projectId, number, shownMax],
  );
  return rows;
}

/** The pull request must exist. */
export async function insertComment(
  db: Queryable,
  comment: { projectId: string; number: number; author: string; body: string; requestsChanges?: boolean },
): Promise<void> {
  await db.query(
    `insert into local_pull_request_comments (id, project_id, number, author, body, requests_changes)
     values ($1, $2, $3, $4, $5, $6)`,
    [newId("cmt"), comment.projectId, comment.number, comment.author, comment.body, comment.requestsChanges ?? false],
  );
}

/** A row of local_statuses. */
export interface LocalStatus {
  name: string;
  state: CommitStatus["state"];
  words: string;
  url: string;
  at: Date;
  log: string | null;
}

/** Returns whether it is stored: a name that is new needs room below `statusesMax`. */
export async function saveStatus(
  db: Queryable,
  projectId: string,
  status: Omit<CommitStatus, "pulls"> & { log?: string },
  statusesMax: number | null = null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with known as (select name from local_statuses where project_id = $1 and commit_id = $2)
     insert into local_statuses (project_id, commit_id, name, state, words, url, log)
     select $1, $2, $3, $4, $5, $6, $7
     where $3 in (select name from known) or $8::integer is null or (select count(*) from known) < $8
     on conflict (project_id, commit_id, name) do update set state = excluded.state, words = excluded.words,
       url = excluded.url, log = excluded.log, updated_at = clock_timestamp()`,
    [projectId, status.commit, status.name, status.state, status.words, status.url, status.log ?? null, statusesMax],
  );
  return rowCount !== 0;
}

export async function listStatuses(db: Queryable, projectId: string, commit: string): Promise<readonly LocalStatus[]> {
  const { rows } = await db.query<LocalStatus>(
    `select name, state, words, url, updated_at as at, log from local_statuses
     where project_id = $1 and commit_id = $2 order by name`,
    [projectId, commit],
  );
  return rows;
}
