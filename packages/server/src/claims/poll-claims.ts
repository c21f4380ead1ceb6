import { secretsIn } from "@emend/base/secrets/secrets-in.ts";
import { type CitedLines, type CommitTree, citeLines, type Remote, readCitable } from "@emend/tree";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { addCitedClaims } from "./add-cited-claims.ts";
import { reliesOnCode } from "./claim-store.ts";
import { findClaimsInSource, findClaimsOnPages, type SourceCommit } from "./find-claims-again.ts";
import { type SourceDeps, type SourceName, withSource } from "./source-at.ts";

export interface ClaimPollDeps extends SourceDeps {
  pool: Pool;
  ownRemote(project: Project, signal: AbortSignal): Promise<Remote>;
  contextRemote(repositoryId: string, signal: AbortSignal): Promise<Remote>;
  /** The docs or a source have a new commit. */
  onMoved(projectId: string): Promise<void>;
}

const everySeconds = 300;
/** A local folder is cheap to check and sends no webhook. */
const localEverySeconds = 30;
const projectsMax = 200;

/** Projects with claims, with code to compare, or with citations of merged jobs, that are due. Schedules their next check. */
export async function listDueClaims(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with due as (
       select projects.id, forge from projects left join claim_looks on project_id = projects.id
       where coalesce(due_at, '-infinity') <= clock_timestamp() and (
         ${reliesOnCode}
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
export async function pollClaims(deps: ClaimPollDeps, projectId: string, signal: AbortSignal): Promise<void> {
  const project = await getProject(deps.pool, projectId);
  if (!project) return;
  const { rows } = await deps.pool.query<{ commits: Record<string, string> }>(
    "select commits from claim_looks where project_id = $1",
    [projectId],
  );
  const commits = { ...rows[0]?.commits };
  const problems: string[] = [];
  const own = { id: project.id, name: null, baseRef: project.baseRef, remote: () => deps.ownRemote(project, signal) };

  async function compareCode(docs: SourceCommit, source: SourceCommit, id: string, isKept: boolean): Promise<void> {
    await readNew(deps.pool, projectId, { docs, source }, signal);
    const isKnown = commits[id] === source.commit && !isKept;
    if (!isKnown) await findClaimsInSource(deps.pool, projectId, source, signal);
  }

  try {
    await withSource(deps, own, "claims", signal, async (docs) => {
      const isKept = await addCitedClaims(deps.pool, project, docs.tree, signal);
      if (commits[project.id] !== docs.commit) await findClaimsOnPages(deps.pool, projectId, docs.tree, signal);
      for (const source of await listSources(deps.pool, project)) {
        if (source.isOwn) {
          await compareCode(docs, docs, source.id, isKept);
          continue;
        }
        const remote = () => deps.contextRemote(source.id, signal);
        try {
          await withSource(deps, { ...source, remote }, "claims", signal, async (code) => {
            await compareCode(docs, { ...code, repositoryId: source.id }, source.id, isKept);
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
  const isMoved = Object.entries(commits).some(([id, commit]) => rows[0]?.commits[id] !== commit);
  if (isMoved) await deps.onMoved(projectId);
  await deps.pool.query(
    `insert into claim_looks (project_id, commits, problem) select id, $2, $3 from projects where id = $1
     on conflict (project_id) do update set commits = excluded.commits, problem = excluded.problem`,
    [projectId, commits, problems.length === 0 ? null : problems.join(" ").slice(0, 500)],
  );
}

/** The project's own repository, if claims cite it, and its context repositories. */
async function listSources(db: Queryable, project: Project): Promise<readonly (SourceName & { isOwn: boolean })[]> {
  const { rows } = await db.query<{ id: string | null; name: string | null; baseRef: string | null }>(
    `select null as id, null as name, null as "baseRef"
     where exists (select from claims where project_id = $1 and repository_id is null)
     union all
     select id, name, base_ref from context_repositories where project_id = $1 order by 2 nulls first`,
    [project.id],
  );
  return rows.map(({ id, ...row }) => ({ ...row, id: id ?? project.id, isOwn: id === null }));
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
  { docs, source }: { docs: SourceCommit; source: SourceCommit },
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
