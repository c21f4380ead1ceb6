import type { Claim } from "@emend/contract";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { secretsIn } from "../secrets/secrets-in.ts";
import type { Mirrors, Remote } from "../tree/mirror/mirror.ts";
import { type CitedLines, citeLines, readCitable } from "../tree/read/cited-lines.ts";
import type { PageHistory } from "../tree/read/history.ts";
import type { CommitTree } from "../tree/tree.ts";
import { type LookedAt, lookAtPages, lookAtSource } from "./find-claims-again.ts";
import { keepCited } from "./keep-cited.ts";

export interface ClaimLookDeps {
  pool: Pool;
  mirrors: Mirrors;
  ownRemote(project: Project, signal: AbortSignal): Promise<Remote>;
  contextRemote(repositoryId: string, signal: AbortSignal): Promise<Remote>;
  pageHistory: PageHistory;
}

const everySeconds = 300;
/** A local folder is cheap to check and sends no webhook. */
const localEverySeconds = 30;
const projectsMax = 200;

/** Projects with claims, or with citations of merged jobs, that are due. Also schedules their next check. */
export async function listDueClaims(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with due as (
       select projects.id, forge from projects left join claim_looks on project_id = projects.id
       where coalesce(due_at, '-infinity') <= clock_timestamp() and (
         exists (select from claims where project_id = projects.id)
         or exists (select from jobs where project_id = projects.id and not claims_kept and sources <> '[]'
                      and pull_request ->> 'state' = 'merged'))
       order by due_at nulls first limit $3
     )
     insert into claim_looks (project_id, due_at)
     select id, clock_timestamp() + make_interval(secs => case when forge = 'local' then $2::int else $1::int end) from due
     on conflict (project_id) do update set due_at = excluded.due_at
     returning project_id as id`,
    [everySeconds, localEverySeconds, projectsMax],
  );
  return rows.map(({ id }) => id);
}

/** Checks every claim of a project at the newest commits of its docs and of the cited code. */
export async function lookAtClaims(deps: ClaimLookDeps, projectId: string, signal: AbortSignal): Promise<void> {
  const project = await getProject(deps.pool, projectId);
  if (!project) return;
  const { rows } = await deps.pool.query<{ commits: Record<string, string> }>(
    "select commits from claim_looks where project_id = $1",
    [projectId],
  );
  const commits = rows[0]?.commits ?? {};
  const problems: string[] = [];
  const own = { id: project.id, name: null, baseRef: project.baseRef, remote: () => deps.ownRemote(project, signal) };

  async function lookAtCode(docs: LookedAt, source: LookedAt, id: string, isKept: boolean): Promise<void> {
    await readNew(deps.pool, projectId, { docs, source }, signal);
    const isKnown = commits[id] === source.commit && !isKept;
    if (!isKnown) await lookAtSource(deps.pool, projectId, source, signal);
  }

  try {
    await withSource(deps, own, signal, async (docs) => {
      const isKept = await keepCited(deps.pool, project, docs.tree, signal);
      if (commits[project.id] !== docs.commit) await lookAtPages(deps.pool, projectId, docs.tree, signal);
      for (const source of await listSources(deps.pool, project)) {
        if (source.isOwn) {
          await lookAtCode(docs, docs, source.id, isKept);
          continue;
        }
        const remote = () => deps.contextRemote(source.id, signal);
        try {
          await withSource(deps, { ...source, remote }, signal, async (code) => {
            await lookAtCode(docs, { ...code, repositoryId: source.id }, source.id, isKept);
            commits[source.id] = code.commit;
          });
        } catch (error) {
          signal.throwIfAborted();
          if (!isAppError(error)) throw error;
          problems.push(`${source.name}: ${error.publicMessage}`);
        }
      }
      commits[project.id] = docs.commit;
    });
  } catch (error) {
    if (!isAppError(error)) throw error;
    problems.push(error.publicMessage);
  }
  await deps.pool.query("update claim_looks set commits = $2, problem = $3 where project_id = $1", [
    projectId,
    commits,
    problems.length === 0 ? null : problems.join(" ").slice(0, 500),
  ]);
}

interface Source {
  id: string;
  name: string | null;
  baseRef: string | null;
}

/** The repositories that claims cite. */
async function listSources(db: Queryable, project: Project): Promise<readonly (Source & { isOwn: boolean })[]> {
  const { rows } = await db.query<{ id: string | null; name: string | null; baseRef: string | null }>(
    `select distinct repository.id, repository.name, repository.base_ref as "baseRef"
     from claims left join context_repositories repository on repository.id = repository_id
     where claims.project_id = $1 order by 2 nulls first`,
    [project.id],
  );
  return rows.map(({ id, ...row }) => ({ ...row, id: id ?? project.id, isOwn: id === null }));
}

async function withSource(
  deps: ClaimLookDeps,
  source: Source & { remote(): Promise<Remote> },
  signal: AbortSignal,
  use: (at: LookedAt) => Promise<void>,
): Promise<void> {
  const mirror = await deps.mirrors.open(source.id);
  const remote = await source.remote();
  // Pinned as for a job, so that garbage collection keeps the commit while it is read.
  const jobId = `claims_${source.id}`;
  const causes = new Map<string, Promise<Claim["cause"]>>();
  try {
    const { commit, ref } = await mirror.fetchBase({ remote, jobId, baseRef: source.baseRef }, signal);
    await use({
      repositoryId: null,
      commit,
      tree: mirror.treeAt(commit),
      causeOf(path) {
        const known = causes.get(path);
        if (known) return known;
        if (causes.size >= causesMax) return Promise.resolve(null);
        const asked = readCause(deps.pageHistory, { remote, branch: ref, path }, signal);
        causes.set(path, asked);
        return asked;
      },
    });
  } finally {
    await mirror.release(jobId);
  }
}

/** A limit, because each lookup may be a fetch. */
const causesMax = 20;
const pullRequestForms =
  /\(#(\d{1,9})\)|Merge pull request #(\d{1,9})|See merge request \S*!(\d{1,9})|\(pull request #(\d{1,9})\)/;

/** The newest commit that touched the file. */
async function readCause(
  pageHistory: PageHistory,
  input: { remote: Remote; branch: string; path: string },
  signal: AbortSignal,
): Promise<Claim["cause"]> {
  const commits = await pageHistory(input, signal).catch(() => {
    signal.throwIfAborted();
    return [];
  });
  const [newest] = commits;
  if (!newest) return null;
  const { id, author, date, message } = newest;
  return { commit: id, author, date, message, pullRequest: pullRequestIn(message) };
}

/** The number that forges write into the commit message of a merged pull request. */
export function pullRequestIn(message: string): number | null {
  const groups = pullRequestForms.exec(message)?.slice(1) ?? [];
  const number = groups.find((group) => group !== undefined);
  return number === undefined ? null : Number(number);
}

interface NewRow {
  id: string;
  page: string;
  pageLine: number;
  pageLineEnd: number;
  path: string;
  line: number;
  lineEnd: number;
}

const newMax = 500;

/** Reads new claims: the text on the page and the cited lines. */
async function readNew(
  pool: Pool,
  projectId: string,
  { docs, source }: { docs: LookedAt; source: LookedAt },
  signal: AbortSignal,
): Promise<void> {
  const { rows } = await pool.query<NewRow>(
    `select id, page, page_line as "pageLine", page_line_end as "pageLineEnd", path, line, line_end as "lineEnd"
     from claims where project_id = $1 and repository_id is not distinct from $2 and state = 'new'
     order by problem is not null, created_at limit $3`,
    [projectId, source.repositoryId, newMax],
  );
  for (const row of rows) {
    signal.throwIfAborted();
    const page = await cite(docs.tree, row.page, row.pageLine, row.pageLineEnd);
    const code = await cite(source.tree, row.path, row.line, row.lineEnd);
    const problem = page.problem ?? code.problem;
    if (problem !== undefined || !page.cited || !code.cited) {
      await pool.query("update claims set problem = $2 where id = $1", [row.id, problem]);
      continue;
    }
    await pool.query(
      `update claims set page_text = $2, page_blob = $3, text = $4, hash = sha256(convert_to($4, 'UTF8')), symbol = $5,
         commit_id = $6, blob = $7, state = 'same', problem = null
       where id = $1 and state = 'new'`,
      [
        row.id,
        page.cited.text,
        await blobOf(docs.tree, row.page),
        code.cited.text,
        code.cited.symbol,
        source.commit,
        await blobOf(source.tree, row.path),
      ],
    );
  }
}

async function blobOf(tree: CommitTree, path: string): Promise<string | null> {
  return (await tree.index()).entries.get(path)?.oid ?? null;
}

async function cite(
  tree: CommitTree,
  path: string,
  line: number,
  lineEnd: number,
): Promise<{ cited?: CitedLines; problem?: string }> {
  const content = await readCitable(tree, path);
  if (content === null) return { problem: `${path} is not a text file of the repository.` };
  const cited = citeLines(path, content, line, lineEnd);
  const lines = line === lineEnd ? `line ${line}` : `lines ${line} to ${lineEnd}`;
  if (!cited) return { problem: `${path} has no text at ${lines}.` };
  if ((await secretsIn(cited.text)).length > 0) {
    return { problem: `${path}: ${lines} contain what looks like a credential. Emend does not store it.` };
  }
  return { cited };
}
