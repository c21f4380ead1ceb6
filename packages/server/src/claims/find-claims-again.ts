import { secretsIn } from "@emend/base/secrets/secrets-in.ts";
import type { Claim } from "@emend/contract";
import { type CitedLines, type CommitTree, type FinderMemory, type FoundAgain, findAgain } from "@emend/tree";
import type { Pool, Queryable } from "../db/pool.ts";

/** A repository at the newest commit of its branch. */
export interface SourceCommit {
  /** Null: the project's own repository. */
  repositoryId: string | null;
  commit: string;
  tree: CommitTree;
  /** The commit that last changed a file. Null: unknown. */
  causeOf(path: string): Promise<Claim["cause"]>;
}

interface PageRow {
  id: string;
  page: string;
  line: number;
  lineEnd: number;
  text: string;
}

/** A claim ends when its text is removed. Text that only moved is found again. */
export async function findClaimsOnPages(
  pool: Pool,
  projectId: string,
  tree: CommitTree,
  signal: AbortSignal,
): Promise<void> {
  const { entries } = await tree.index();
  const suspects = await suspectsOf(pool, entries, {
    text: "select id, page as path, page_blob as blob, state from claims where project_id = $1 and page_text is not null",
    values: [projectId],
  });
  if (suspects.length === 0) return;
  const { rows } = await pool.query<PageRow>(
    `select id, page, page_line as line, page_line_end as "lineEnd", page_text as text from claims where id = any ($1)`,
    [suspects],
  );
  const memory: FinderMemory = { movedTo: new Map(), searches: 0 };
  const kept: object[] = [];
  const ended: string[] = [];
  for (const { id, page, ...row } of rows) {
    signal.throwIfAborted();
    const found = await findAgain(tree, { ...row, path: page, symbol: null }, memory, signal);
    if (found.kind === "changed" || found.kind === "gone") ended.push(id);
    else {
      const { path, line, lineEnd } = found.cited;
      kept.push({ id, page: path, line, line_end: lineEnd, blob: entries.get(path)?.oid ?? null, text: row.text });
    }
  }
  await pool.query(
    `update claims set page = now.page, page_line = now.line, page_line_end = now.line_end, page_blob = now.blob
     from jsonb_to_recordset($1) as now (id text, page text, line int, line_end int, blob text, text text)
     where claims.id = now.id and page_text = now.text`,
    [JSON.stringify(kept)],
  );
  await pool.query("delete from claims where id = any ($1)", [ended]);
}

/** Ids of claims whose file changed since the last check. Most did not: one query finds them, and their files are not read. */
async function suspectsOf(
  db: Queryable,
  entries: ReadonlyMap<string, { oid: string }>,
  query: { text: string; values: unknown[] },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string; path: string; blob: string | null; state: string }>(query);
  // Lines that were gone may be back in any file.
  return rows
    .filter(({ path, blob, state }) => state === "gone" || blob === null || entries.get(path)?.oid !== blob)
    .map(({ id }) => id);
}

interface ClaimOfChange extends CitedLines {
  page: string;
  pageLine: number;
  pageLineEnd: number;
  pageText: string;
}

export interface BrokenClaim {
  page: CitedLines;
  source: CitedLines;
  /** The lines in their place. Null: they are gone. */
  now: string | null;
}

/**
 * The claims that a change of a repository would make changed or gone. A claim that does not hold before the change, or
 * whose text is no longer in the docs, is not among them.
 */
export async function listBrokenClaims(
  db: Queryable,
  { projectId, repositoryId }: { projectId: string; repositoryId: string | null },
  { before, after, docs }: { before: CommitTree; after: CommitTree; docs: CommitTree },
  signal: AbortSignal,
): Promise<readonly BrokenClaim[]> {
  const { rows } = await db.query<ClaimOfChange>(
    `select page, page_line as "pageLine", page_line_end as "pageLineEnd", page_text as "pageText", path, line,
       line_end as "lineEnd", text, symbol
     from claims where project_id = $1 and repository_id is not distinct from $2 and state <> 'new' order by page, page_line`,
    [projectId, repositoryId],
  );
  if (rows.length === 0) return [];
  const [old, fresh] = [(await before.index()).entries, (await after.index()).entries];
  const memories = [before, after, docs].map((): FinderMemory => ({ movedTo: new Map(), searches: 0 }));
  const find = (at: number, cited: CitedLines) =>
    findAgain([before, after, docs][at] as CommitTree, cited, memories[at] as FinderMemory, signal);
  const broken: BrokenClaim[] = [];
  for (const { page, pageLine, pageLineEnd, pageText, ...cited } of rows) {
    signal.throwIfAborted();
    if (old.get(cited.path)?.oid === fresh.get(cited.path)?.oid) continue;
    const was = await find(0, cited);
    if (was.kind !== "same" && was.kind !== "moved") continue;
    const is = await withoutCredential(await find(1, was.cited));
    if (is.kind !== "changed" && is.kind !== "gone") continue;
    const words = { path: page, line: pageLine, lineEnd: pageLineEnd, text: pageText, symbol: null };
    const said = await find(2, words);
    if (said.kind === "same" || said.kind === "moved") {
      broken.push({ page: said.cited, source: was.cited, now: is.kind === "gone" ? null : is.cited.text });
    }
  }
  return broken;
}

/** Changes with the claims on a repository, and with what they cite. */
export async function markOfClaims(
  db: Queryable,
  { projectId, repositoryId }: { projectId: string; repositoryId: string | null },
): Promise<string> {
  const { rows } = await db.query<{ mark: string | null }>(
    `select md5(string_agg(id || encode(hash, 'hex'), ',' order by id)) as mark
     from claims where project_id = $1 and repository_id is not distinct from $2 and state <> 'new'`,
    [projectId, repositoryId],
  );
  return rows[0]?.mark ?? "";
}

interface SourceRow extends CitedLines {
  id: string;
  state: "same" | "changed" | "gone";
  hash: string;
  cause: Claim["cause"];
}

const updatedAtOnce = 500;

/** Compares every claim on a repository with its newest commit. */
export async function findClaimsInSource(
  pool: Pool,
  projectId: string,
  at: SourceCommit,
  signal: AbortSignal,
): Promise<{ looked: number }> {
  const { entries } = await at.tree.index();
  const suspects = await suspectsOf(pool, entries, {
    text: `select id, path, blob, state from claims
           where project_id = $1 and repository_id is not distinct from $2 and state <> 'new'`,
    values: [projectId, at.repositoryId],
  });
  const memory: FinderMemory = { movedTo: new Map(), searches: 0 };
  for (let from = 0; from < suspects.length; from += updatedAtOnce) {
    const { rows } = await pool.query<SourceRow>(
      `select id, path, line, line_end as "lineEnd", text, symbol, state, encode(hash, 'hex') as hash, cause
       from claims where id = any ($1) order by path, line`,
      [suspects.slice(from, from + updatedAtOnce)],
    );
    const found: object[] = [];
    for (const row of rows) {
      signal.throwIfAborted();
      found.push(await judge(at, entries, row, memory, signal));
    }
    await storeFound(pool, found);
  }
  return { looked: suspects.length };
}

async function judge(
  at: SourceCommit,
  entries: ReadonlyMap<string, { oid: string }>,
  row: SourceRow,
  memory: FinderMemory,
  signal: AbortSignal,
): Promise<object> {
  const { id, hash, state: before, cause: known, ...cited } = row;
  const found = await withoutCredential(await findAgain(at.tree, cited, memory, signal));
  const place = found.kind === "same" || found.kind === "moved" ? found.cited : cited;
  const state = found.kind === "moved" ? "same" : found.kind;
  const { path, line, lineEnd, symbol } = place;
  return {
    id,
    hash,
    path,
    line,
    line_end: lineEnd,
    symbol,
    blob: entries.get(path)?.oid ?? null,
    commit: state === "same" ? at.commit : null,
    state,
    found: found.kind === "changed" ? { ...found.cited, commit: at.commit } : null,
    cause: state === "same" ? null : ((before === state ? known : null) ?? (await at.causeOf(cited.path))),
  };
}

/** New lines that look like a credential are not stored: the claim's lines count as gone. */
async function withoutCredential(found: FoundAgain): Promise<FoundAgain> {
  const isCredential = found.kind === "changed" && (await secretsIn(found.cited.text)).length > 0;
  return isCredential ? { kind: "gone" } : found;
}

/** Compare-and-swap: the claim is written only if it is unchanged. Somebody may have confirmed or removed it meanwhile. */
async function storeFound(db: Queryable, found: readonly object[]): Promise<void> {
  await db.query(
    `update claims set path = now.path, line = now.line, line_end = now.line_end, symbol = now.symbol, blob = now.blob,
       commit_id = coalesce(now.commit, commit_id), state = now.state, found = now.found, cause = now.cause,
       changed_at = case when now.state = 'same' then null
         when claims.state = now.state and claims.found ->> 'text' is not distinct from now.found ->> 'text'
           then claims.changed_at else clock_timestamp() end
     from jsonb_to_recordset($1) as now (id text, hash text, path text, line int, line_end int, symbol text, blob text,
       commit text, state text, found jsonb, cause jsonb)
     where claims.id = now.id and encode(claims.hash, 'hex') = now.hash`,
    [JSON.stringify(found)],
  );
}
