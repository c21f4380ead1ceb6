import type { ReliedOn } from "@emend/base/repair-prompt.ts";
import type { AddClaimBody, Claim, ClaimState } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/**
 * A claim binds text on a page to the lines of code that it relies on. If either moves, the claim follows it. If the lines
 * change or disappear, the claim becomes `changed` or `gone`. It ends when the text does. API nodes have no repositories, so
 * a claim that is added there stays `new` until a worker reads it.
 */
const claimColumns = `claims.id, page, page_line as "pageLine", page_line_end as "pageLineEnd", page_text as "pageText",
  repository.name as repository, path, line, line_end as "lineEnd", text, symbol, commit_id as "commit", state, found, cause,
  problem, changed_at as "changedAt", job_id as "jobId", claims.created_at as "createdAt"`;
const withRepository = "claims left join context_repositories repository on repository.id = claims.repository_id";

interface ClaimRow {
  id: string;
  page: string;
  pageLine: number;
  pageLineEnd: number;
  pageText: string | null;
  repository: string | null;
  path: string;
  line: number;
  lineEnd: number;
  text: string | null;
  symbol: string | null;
  commit: string | null;
  state: ClaimState;
  found: { path: string; line: number; lineEnd: number; text: string } | null;
  cause: Claim["cause"];
  problem: string | null;
  changedAt: Date | null;
  jobId: string | null;
  createdAt: Date;
}

function toClaim(row: ClaimRow): Claim {
  const { found } = row;
  return {
    id: row.id,
    page: { path: row.page, line: row.pageLine, lineEnd: row.pageLineEnd, text: row.pageText },
    source: {
      repository: row.repository,
      path: row.path,
      line: row.line,
      lineEnd: row.lineEnd,
      text: row.text,
      symbol: row.symbol,
      commit: row.commit,
    },
    state: row.state,
    found: found && { path: found.path, line: found.line, lineEnd: found.lineEnd, text: found.text },
    cause: row.cause,
    problem: row.problem,
    changedAt: row.changedAt?.toISOString() ?? null,
    jobId: row.jobId,
    createdAt: row.createdAt.toISOString(),
  };
}

export interface ClaimQuery {
  page: string | null;
  state: ClaimState | null;
  limit: number;
  /** The last claim of the previous page of the list. */
  after: ClaimPlace | null;
}

export interface ClaimPlace {
  page: string;
  line: number;
  id: string;
}

/** Sorted by page and line. */
export async function listClaims(
  db: Queryable,
  projectId: string,
  query: ClaimQuery,
): Promise<{ claims: readonly Claim[]; next: ClaimPlace | null }> {
  const { page, state, limit, after } = query;
  const { rows } = await db.query<ClaimRow>(
    `select ${claimColumns} from ${withRepository}
     where claims.project_id = $1 and ($2::text is null or page = $2) and ($3::text is null or state = $3)
       and ($4::text is null or (page, page_line, claims.id) > ($4, $5::int, $6))
     order by page, page_line, claims.id limit $7`,
    [projectId, page, state, after?.page ?? null, after?.line ?? null, after?.id ?? null, limit + 1],
  );
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    claims: rows.slice(0, limit).map(toClaim),
    next: last ? { page: last.page, line: last.pageLine, id: last.id } : null,
  };
}

const idForm = /^clm_[0-9a-f]{32}$/;

/** Null: the project does not have this claim. */
async function findClaim(db: Queryable, projectId: string, id: string): Promise<Claim | null> {
  if (!idForm.test(id)) return null;
  const { rows } = await db.query<ClaimRow>(
    `select ${claimColumns} from ${withRepository} where claims.project_id = $1 and claims.id = $2`,
    [projectId, id],
  );
  return rows[0] ? toClaim(rows[0]) : null;
}

const claimsMax = 50_000;

export async function addClaim(
  db: Queryable,
  input: AddClaimBody & { projectId: string; createdBy: string },
): Promise<Claim> {
  const page = parsePlace("page", input.page);
  const { repository, ...source } = parseSourcePlace(input.source);
  const { rows } = await db.query<{ repositories: { id: string; name: string }[] | null; claims: number }>(
    `select (select jsonb_agg(jsonb_build_object('id', id, 'name', name) order by name)
             from context_repositories where project_id = $1) as repositories,
       (select count(*)::int from claims where project_id = $1) as claims`,
    [input.projectId],
  );
  const known = rows[0]?.repositories ?? [];
  const found = known.find(({ name }) => name === repository);
  if (repository !== null && !found) {
    const names = known.map(({ name }) => name).join(", ") || "none";
    throw invalid(`The project has no context repository "${repository}". It has: ${names}.`);
  }
  if ((rows[0]?.claims ?? 0) >= claimsMax) throw invalid(`A project has at most ${claimsMax} claims.`);
  // Idempotent: the same request returns the same claim, because the first response may have been lost.
  const added = await db.query<{ id: string }>(
    `with known as (
       select id from claims where project_id = $1 and page = $2 and page_line = $3 and page_line_end = $4
         and repository_id is not distinct from $5 and path = $6 and line = $7 and line_end = $8 limit 1
     ), added as (
       insert into claims (project_id, page, page_line, page_line_end, repository_id, path, line, line_end, created_by)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9 where not exists (select from known) returning id
     )
     select id from known union all select id from added`,
    [
      input.projectId,
      page.path,
      page.line,
      page.lineEnd,
      found?.id ?? null,
      source.path,
      source.line,
      source.lineEnd,
      input.createdBy,
    ],
  );
  await hastenClaims(db, input.projectId);
  return (await findClaim(db, input.projectId, added.rows[0]?.id ?? "")) as Claim;
}

/** Returns the removed claim. Null: the project does not have this claim. */
export async function removeClaim(db: Queryable, projectId: string, id: string): Promise<Claim | null> {
  const claim = await findClaim(db, projectId, id);
  if (!claim) return null;
  const { rowCount } = await db.query("delete from claims where project_id = $1 and id = $2", [projectId, id]);
  return rowCount === 1 ? claim : null;
}

/** Confirms that the page is right about the new lines. Null: the claim was not found. */
export async function confirmClaim(db: Queryable, projectId: string, id: string): Promise<Claim | null> {
  const before = await findClaim(db, projectId, id);
  if (!before) return null;
  if (before.state !== "changed") {
    throw new AppError("conflict", {
      publicMessage: `Only a changed claim can be confirmed. The state of this one is ${before.state}.`,
    });
  }
  await db.query(
    `update claims set path = found ->> 'path', line = (found ->> 'line')::int, line_end = (found ->> 'lineEnd')::int,
       text = found ->> 'text', hash = sha256(convert_to(found ->> 'text', 'UTF8')), symbol = found ->> 'symbol',
       commit_id = found ->> 'commit', state = 'same', found = null, cause = null, changed_at = null
     where project_id = $1 and id = $2 and state = 'changed'`,
    [projectId, id],
  );
  return findClaim(db, projectId, id);
}

/** Projects whose pages are compared with code: they have claims, context repositories, or code beside the docs folder. */
export const reliesOnCode = `(projects.docs_dir not in ('', '.')
  or exists (select from claims where project_id = projects.id)
  or exists (select from context_repositories where project_id = projects.id))`;

export async function isComparedWithCode(db: Queryable, projectId: string): Promise<boolean> {
  const { rowCount } = await db.query(`select from projects where id = $1 and ${reliesOnCode}`, [projectId]);
  return rowCount === 1;
}

/** Makes the next check due now. */
async function hastenClaims(db: Queryable, projectId: string): Promise<void> {
  await db.query(
    `insert into claim_looks (project_id) select id from projects where id = $1
     on conflict (project_id) do update set due_at = least(claim_looks.due_at, clock_timestamp())`,
    [projectId],
  );
}

const placeForm = /^(.+?):(\d{1,7})(?:[-:](\d{1,7}))?$/;
const spanMax = 60;

function parsePlace(field: "page" | "source", words: string): { path: string; line: number; lineEnd: number } {
  const [, path = "", first, last] = placeForm.exec(words.trim()) ?? [];
  const line = Number(first);
  const lineEnd = last === undefined ? line : Number(last);
  const isPath = path !== "" && !/[\p{Cc}]/u.test(path) && path.isWellFormed() && !/(^|\/)\.{0,2}(\/|$)/.test(path);
  if (!isPath || !(line >= 1) || lineEnd < line) {
    throw invalid(`${field} must be path:line or path:line-line, for example docs/timeouts.md:12.`);
  }
  if (lineEnd - line >= spanMax) throw invalid(`${field} must not span more than ${spanMax} lines.`);
  return { path, line, lineEnd };
}

function parseSourcePlace(words: string): { repository: string | null; path: string; line: number; lineEnd: number } {
  const [, repository, rest] = /^@([^/]+)\/(.+)$/s.exec(words.trim()) ?? [];
  if (repository === undefined || rest === undefined) return { repository: null, ...parsePlace("source", words) };
  return { repository, ...parsePlace("source", rest) };
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** A list position as an opaque cursor. */
export function toClaimCursor(place: ClaimPlace): string {
  return Buffer.from(JSON.stringify([place.page, place.line, place.id])).toString("base64url");
}

/** Null: not a valid cursor. */
export function fromClaimCursor(cursor: string): ClaimPlace | null {
  try {
    const [page, line, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    const isPlace = typeof page === "string" && !page.includes("\0") && page.isWellFormed();
    if (isPlace && Number.isInteger(line) && Math.abs(line) < 2 ** 31 && idForm.test(id)) return { page, line, id };
  } catch {
    // Reported below.
  }
  return null;
}

/** Claims in the site's health: by page, with the change that caused each, and what to do. */
interface ClaimFinding {
  check: "changed-claim" | "gone-claim";
  severity: "error" | "warning";
  path: string;
  line: number;
  message: string;
  repository: string | null;
  cause: Claim["cause"];
  claimId: string;
  /** For the job that corrects the page. */
  claim: ReliedOn;
  changedAt: Date | null;
}

const findingsMax = 500;
const quoteMax = 80;

export async function listClaimFindings(db: Queryable, projectId: string): Promise<readonly ClaimFinding[]> {
  const { rows } = await db.query<ClaimRow>(
    `select ${claimColumns} from ${withRepository} where claims.project_id = $1 and state in ('changed', 'gone')
     order by state = 'changed', page, page_line, claims.id limit $2`,
    [projectId, findingsMax],
  );
  return rows.map((row) => {
    const isGone = row.state === "gone";
    const place = `${row.repository === null ? "" : `@${row.repository}/`}${row.path}:${row.line}`;
    const by = row.cause ? ` in ${row.cause.commit.slice(0, 10)} by ${row.cause.author}${pullOf(row.cause)}` : "";
    const what = isGone
      ? `was removed${by}: \`${quoted(row.text)}\``
      : `changed${by}: \`${quoted(row.text)}\` is now \`${quoted(row.found?.text ?? null)}\``;
    const next = isGone ? "remove the claim" : "confirm the claim";
    return {
      check: isGone ? "gone-claim" : "changed-claim",
      severity: isGone ? "error" : "warning",
      path: row.page,
      line: row.pageLine,
      message: `The text relies on \`${place}\`, which ${what}. Correct the text or, if it is right, ${next}.`,
      repository: row.repository,
      cause: row.cause,
      claimId: row.id,
      claim: { text: row.pageText ?? "", source: place, was: row.text ?? "", now: row.found?.text ?? null },
      changedAt: row.changedAt,
    };
  });
}

/**
 * People confirm and remove claims between checks of the site, so they are read when they are shown. Those that the last
 * check left out are silenced.
 */
export async function listClaimsNow(
  db: Queryable,
  projectId: string,
  last: { checkedAt: Date | undefined; findings: readonly { claimId?: string }[] },
): Promise<readonly Omit<ClaimFinding, "changedAt">[]> {
  const told = new Set(last.findings.map(({ claimId }) => claimId));
  const isNew = (at: Date | null) => last.checkedAt === undefined || at === null || at > last.checkedAt;
  return (await listClaimFindings(db, projectId)).flatMap(({ changedAt, ...finding }) =>
    told.has(finding.claimId) || isNew(changedAt) ? [finding] : [],
  );
}

function pullOf({ pullRequest }: NonNullable<Claim["cause"]>): string {
  return pullRequest === null ? "" : ` (pull request #${pullRequest})`;
}

/** The first line, escaped for a code span. */
function quoted(text: string | null): string {
  const [first = ""] = (text ?? "").trim().split("\n", 1);
  return (first.length > quoteMax ? `${first.slice(0, quoteMax)}…` : first).replaceAll("`", "'");
}
