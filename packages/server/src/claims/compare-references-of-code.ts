import { isCertainRename } from "@emend/base/repair-prompt.ts";
import type { Claim } from "@emend/contract";
import {
  type CodeReference,
  compareReferences,
  type Finding,
  indexSource,
  isDefinedIn,
  readSiteReferences,
  type Site,
  type SourceIndex,
  type StaleReference,
  staleReferenceCheck,
} from "@emend/site";
import { siteTreeOf } from "@emend/tree";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { isAppError } from "../errors.ts";
import { keepBound, readPush } from "./drift/read-code-push.ts";
import { type Asker, type AskLimit, backfillLimit, backfillOf, usualLimit } from "./drift/reader.ts";
import type { SourceAt, SourceName } from "./source-at.ts";

/** A stale reference with the change that caused it. */
export interface StaleFinding extends Finding {
  /** The context repository. Null: the project's own. */
  repository: string | null;
  cause: Claim["cause"];
  renamed?: { from: string; to: string };
}

/** A source with its index, after it was compared. */
export interface ComparedSource {
  name: SourceName;
  repositoryId: string | null;
  after: SourceIndex;
  /** Why it was not compared with its earlier commit. */
  problem: string | null;
}

interface Deps {
  pool: Pool;
  /** Indexes that outlive a check, by mirror. */
  indexes: Map<string, SourceIndex>;
}

interface SourceInput {
  site: Site;
  name: SourceName;
  at: SourceAt;
  isOutside(path: string): boolean;
  /** Opened for a push. Null: the project has no language model for this. */
  openAsker(subject: string, limit: AskLimit): Promise<Asker | null>;
}

/**
 * Compares what the pages name with a source's newest commit, and stores what became stale since the commit of the last
 * comparison. The first one is with the oldest commit of the last days; where that is unknown, it only remembers this commit.
 */
export async function compareSource(
  deps: Deps,
  projectId: string,
  { site, name, at, isOutside, openAsker }: SourceInput,
  signal: AbortSignal,
): Promise<ComparedSource> {
  const { pool, indexes } = deps;
  const known = indexes.get(name.id);
  const after = await indexSource(siteTreeOf(at.tree), { isOutside, signal, ...(known && { previous: known }) });
  rememberIndex(indexes, name.id, after);
  const compared = { name, repositoryId: at.repositoryId, after, problem: null };
  const { rows } = await pool.query<{ commit: string }>(
    `select commit_id as "commit" from reference_looks where project_id = $1 and source_id = $2`,
    [projectId, name.id],
  );
  const last = rows[0]?.commit ?? (await at.recentStart());
  if (rows[0] && last === at.commit) return compared;
  const stale: StoredStale[] = [];
  let bound: Awaited<ReturnType<typeof readPush>>["bound"] = [];
  let problem: string | null = null;
  if (last !== null) {
    try {
      const before = await indexSource(siteTreeOf(await at.earlier(last)), { isOutside, signal, previous: after });
      const gone = await compareReferences(await referencesOf(site, signal), before, after, { signal });
      const isBackfill = rows[0] === undefined;
      const asker = isBackfill
        ? await openAsker(backfillOf(name.id), backfillLimit)
        : await openAsker(`push ${name.id} ${at.commit}`, usualLimit);
      const patch = () => at.patchSince(last);
      const push = { site, before, after, stale: gone, isOutside, asker, patch, isBackfill };
      const read = await readPush(push, signal);
      bound = read.bound;
      for (const one of read.stale) stale.push({ stale: one, cause: await at.causeOf(one.paths[0] ?? one.gone) });
    } catch (error) {
      if (signal.aborted || !isAppError(error)) throw error;
      // The commit may be readable next time, so it stays the one to compare with.
      if (error.retryable) return { ...compared, problem: error.publicMessage };
      problem = `Commit ${last.slice(0, 10)} is gone, so what changed since then was not compared. Emend compares from ${at.commit.slice(0, 10)} on.`;
    }
  }
  await inTransaction(pool, async (client) => {
    for (const one of stale) await insertStale(client, { projectId, repositoryId: at.repositoryId, one });
    const { repositoryId } = at;
    if (last !== null) await keepBound(client, { projectId, repositoryId, sourceId: name.id, commit: last, bound });
    await client.query(
      `insert into reference_looks (project_id, source_id, commit_id) select id, $2, $3 from projects where id = $1
       on conflict (project_id, source_id) do update set commit_id = excluded.commit_id`,
      [projectId, name.id, at.commit],
    );
  });
  return { ...compared, problem };
}

interface StoredStale {
  stale: StaleReference;
  cause: Claim["cause"];
}

async function insertStale(
  db: Queryable,
  { projectId, repositoryId, one }: { projectId: string; repositoryId: string | null; one: StoredStale },
): Promise<void> {
  const { stale, cause } = one;
  const { reference, gone, paths, isCertain } = stale;
  await db.query(
    `insert into stale_references
       (project_id, repository_id, page, kind, text, gone, renamed_to, paths, cause, is_certain)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (project_id, coalesce(repository_id, ''), page, kind, md5(text))
     do update set is_certain = stale_references.is_certain or excluded.is_certain`,
    [
      projectId,
      repositoryId,
      reference.page,
      reference.kind,
      reference.text,
      gone,
      stale.fix && stale.cause.kind === "renamed" ? stale.cause.to : null,
      JSON.stringify(paths),
      cause && JSON.stringify(cause),
      isCertain,
    ],
  );
}

const indexesMax = 4;

export function rememberIndex(indexes: Map<string, SourceIndex>, key: string, index: SourceIndex): void {
  indexes.delete(key);
  indexes.set(key, index);
  for (const oldest of indexes.keys()) if (indexes.size > indexesMax) indexes.delete(oldest);
}

async function referencesOf(site: Site, signal: AbortSignal): Promise<CodeReference[]> {
  const pages = await readSiteReferences(site, { signal });
  return [...pages.values()].flatMap(({ references }) => references);
}

interface StaleRow {
  repositoryId: string | null;
  page: string;
  kind: string;
  text: string;
  gone: string;
  renamedTo: string | null;
  paths: readonly string[];
  cause: Claim["cause"];
  isCertain: boolean;
}

/**
 * The stale references of a site, each with its line. Follows renamed pages. Ends those whose page no longer names them,
 * and those that a source has again. What an unread source had is kept, and reported as before. Another source that could
 * not be read may have the name: the finding says so, and is no error.
 */
export async function listStaleReferences(
  pool: Pool,
  projectId: string,
  /** `renames`: old path → new path of pages that were renamed since the last check. */
  input: {
    site: Site;
    sources: readonly ComparedSource[];
    unread: readonly Pick<ComparedSource, "name" | "repositoryId">[];
    renames(): Promise<ReadonlyMap<string, string>>;
  },
  signal: AbortSignal,
): Promise<readonly StaleFinding[]> {
  const { site, sources, unread } = input;
  const { rows } = await pool.query<StaleRow & { name: string | null }>(
    `select repository_id as "repositoryId", repository.name, page, kind, text, gone,
       renamed_to as "renamedTo", paths, cause, is_certain as "isCertain"
     from stale_references stale left join context_repositories repository on repository.id = repository_id
     where stale.project_id = $1 order by page, text, kind`,
    [projectId],
  );
  if (rows.length === 0) return [];
  const pages = await readSiteReferences(site, { signal });
  const findings: StaleFinding[] = [];
  const ended: StaleRow[] = [];
  const renames = rows.every(({ page }) => pages.has(page)) ? null : await input.renames();
  for (const row of rows) {
    const renamedTo = renames?.get(row.page);
    if (renamedTo !== undefined && pages.has(renamedTo)) await movePage(pool, projectId, row, renamedTo);
    // A page that became one of an earlier version may become the newest again.
    if (pages.get(row.page)?.isEarlier) continue;
    const named = (pages.get(row.page)?.references ?? []).filter(
      ({ kind, text }) => kind === row.kind && text === row.text,
    );
    const [first] = named;
    if (!first || (await isBack(sources, row, first, signal))) ended.push(row);
    else {
      const others = unread.flatMap(({ name, repositoryId }) =>
        repositoryId === row.repositoryId ? [] : [name.name ?? "this repository"],
      );
      for (const { line, column } of named) findings.push(toFinding(row, others, line, column));
    }
  }
  for (const { repositoryId, page, kind, text, gone } of ended) {
    await pool.query(
      `delete from stale_references where project_id = $1 and repository_id is not distinct from $2 and page = $3
         and kind = $4 and text = $5 and gone = $6`,
      [projectId, repositoryId, page, kind, text, gone],
    );
  }
  return findings.sort((a, b) => a.path.localeCompare(b.path, "en") || a.line - b.line);
}

async function movePage(db: Queryable, projectId: string, row: StaleRow, page: string): Promise<void> {
  const { rowCount } = await db.query(
    `update stale_references old set page = $6
     where project_id = $1 and repository_id is not distinct from $2 and page = $3 and kind = $4 and text = $5
       and not exists (select from stale_references other where other.project_id = $1 and other.page = $6
         and other.repository_id is not distinct from $2 and other.kind = $4 and other.text = $5)`,
    [projectId, row.repositoryId, row.page, row.kind, row.text, page],
  );
  // Where the new page has its own entry already, the old one ends.
  if (rowCount !== 0) row.page = page;
}

/** Its own source has the missing part again, or another source knows the whole: the code moved there. */
async function isBack(
  sources: readonly ComparedSource[],
  row: StaleRow,
  reference: CodeReference,
  signal: AbortSignal,
): Promise<boolean> {
  const { gone, repositoryId } = row;
  const others: SourceIndex[] = [];
  for (const { repositoryId: id, after } of sources) {
    if (id !== repositoryId) others.push(after);
    else if (after.has(gone) || after.files.has(gone) || after.hasPackage(gone)) return true;
  }
  return isDefinedIn(others, reference, { signal });
}

function toFinding(
  row: StaleRow & { name: string | null },
  unread: readonly string[],
  line: number,
  column: number,
): StaleFinding {
  const { page: path, text, gone, renamedTo, paths, cause, isCertain, name: repository } = row;
  const part = text === gone ? "" : ` (in \`${text}\`)`;
  const where = paths[0] === undefined || paths[0] === gone ? "" : ` (${paths[0]} had it)`;
  const message =
    renamedTo === null
      ? `\`${gone}\`${part} is no longer in the code${where}.${isCertain ? " Correct the page." : ""}`
      : `\`${gone}\`${part} was renamed to \`${renamedTo}\`.${isCertain ? " Use the new name." : ""}`;
  const doubt =
    unread.length > 0
      ? ` Emend could not read ${unread.join(", ")}, which may have it.`
      : isCertain
        ? ""
        : " Another package may have it: change the page only if it means this one.";
  return {
    check: staleReferenceCheck,
    severity: doubt === "" ? "error" : "warning",
    path,
    line,
    column,
    message: `${message}${doubt}`,
    repository,
    cause,
    ...(isCertain &&
      renamedTo !== null &&
      isCertainRename(gone, renamedTo) && { renamed: { from: gone, to: renamedTo } }),
  };
}
