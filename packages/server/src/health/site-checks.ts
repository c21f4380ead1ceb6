import type { ReliedOn } from "@emend/base/repair-prompt.ts";
import type { Claim } from "@emend/contract";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";

/** A check of the whole site of a project's base branch. */
export interface SiteCheck {
  checkedAt: Date;
  commit: string;
  branch: string;
  framework: string;
  pages: number;
  counts: readonly CheckCount[];
  /** The code that the pages were compared with. */
  sources: readonly ComparedWith[];
}

/** A source of the project at the time of a check. */
export interface ComparedWith {
  /** The context repository. Null: the project's own. */
  repository: string | null;
  /** Null: it could not be read. */
  commit: string | null;
  problem: string | null;
}

interface CheckCount {
  check: string;
  severity: "error" | "warning" | "info";
  count: number;
  /** How many of them have a certain fix. */
  fixable: number;
}

export interface SiteFinding {
  check: string;
  severity: "error" | "warning" | "info";
  path: string;
  line: number;
  message: string;
  /** Of a finding that a change of the code caused: the context repository (null: the project's own) and the commit. */
  repository?: string | null;
  cause?: Claim["cause"];
  /** The built-in rules know what to write instead. */
  isFixable?: true;
  /** The new name, if the code renamed it. */
  renamed?: { from: string; to: string };
  claimId?: string;
  /** Of a claim: the texts. Not stored with the check. */
  claim?: ReliedOn;
}

interface SiteHealth {
  /** Oldest first. */
  checks: readonly SiteCheck[];
  /** The newest findings, worst first; a limited number. */
  findings: readonly SiteFinding[];
  /** Why the last check failed, or null. */
  problem: { at: Date; words: string } | null;
}

const findingsMax = 500;
const wordsMax = 500;
const checksKept = 400;
const rank = { error: 0, warning: 1, info: 2 } as const;

interface FullFinding extends SiteFinding {
  fix?: unknown;
}

export interface NewSiteCheck extends Omit<SiteCheck, "checkedAt" | "counts"> {
  findings: readonly FullFinding[];
}

/** One row per day and state of docs and code, so that neither an unchanged nor a busy base branch fills the table. */
export async function storeSiteCheck(pool: Pool, projectId: string, check: NewSiteCheck): Promise<void> {
  const worst = check.findings.toSorted((a, b) => rank[a.severity] - rank[b.severity]).slice(0, findingsMax);
  await inTransaction(pool, async (client) => {
    await client.query("select 1 from projects where id = $1 for update", [projectId]);
    await client.query(
      `delete from site_checks where project_id = $1 and (problem is not null
         or (commit_id = $2 and sources = $3 and checked_at > clock_timestamp() - interval '1 day'
             and checked_at = (select max(checked_at) from site_checks where project_id = $1)))`,
      [projectId, check.commit, JSON.stringify(check.sources)],
    );
    await client.query("update site_checks set findings = null where project_id = $1 and findings is not null", [
      projectId,
    ]);
    await client.query(
      `insert into site_checks (project_id, commit_id, branch, framework, pages, counts, findings, sources)
       select id, $2, $3, $4, $5, $6, $7, $8 from projects where id = $1`,
      [
        projectId,
        check.commit,
        check.branch,
        check.framework,
        check.pages,
        JSON.stringify(countsOf(check.findings)),
        JSON.stringify(worst.map(shown)),
        JSON.stringify(check.sources),
      ],
    );
    await client.query(
      `delete from site_checks where project_id = $1 and checked_at <
         (select checked_at from site_checks where project_id = $1 order by checked_at desc offset $2 limit 1)`,
      [projectId, checksKept - 1],
    );
  });
}

/** Stores why the last check failed. Earlier findings stay. */
export async function storeSiteProblem(pool: Pool, projectId: string, words: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query("delete from site_checks where project_id = $1 and problem is not null", [projectId]);
    await client.query("insert into site_checks (project_id, problem) select id, $2 from projects where id = $1", [
      projectId,
      words.slice(0, wordsMax),
    ]);
  });
}

/** A check with errors and warnings counts as errors. */
function countsOf(findings: readonly FullFinding[]): CheckCount[] {
  const counts = new Map<string, CheckCount>();
  for (const { check, severity, fix } of findings) {
    const count = counts.get(check) ?? { check, severity, count: 0, fixable: 0 };
    count.count += 1;
    if (rank[severity] < rank[count.severity]) count.severity = severity;
    if (fix !== undefined) count.fixable += 1;
    counts.set(check, count);
  }
  return [...counts.values()].sort((a, b) => rank[a.severity] - rank[b.severity] || b.count - a.count);
}

function shown(finding: FullFinding): SiteFinding {
  const { check, severity, path, line, repository, cause, renamed, claimId, fix } = finding;
  const message = finding.message.slice(0, wordsMax);
  const isFixable = fix === undefined ? {} : { isFixable: true as const };
  // Fields that are absent stay absent in JSON.
  return { check, severity, path, line, message, repository, cause, renamed, claimId, ...isFixable };
}

type Row =
  | (SiteCheck & { problem: null; findings: readonly SiteFinding[] | null })
  | { checkedAt: Date; problem: string };

export async function readSiteHealth(db: Queryable, projectId: string): Promise<SiteHealth> {
  const { rows } = await db.query<Row>(
    `select checked_at as "checkedAt", commit_id as "commit", branch, framework, pages, counts, sources, findings,
       problem from site_checks where project_id = $1 order by checked_at`,
    [projectId],
  );
  const checks: SiteCheck[] = [];
  const health: SiteHealth = { checks, findings: [], problem: null };
  for (const row of rows) {
    if (row.problem !== null) {
      health.problem = { at: row.checkedAt, words: row.problem };
      continue;
    }
    const { findings, problem: _none, ...check } = row;
    checks.push(check);
    health.findings = findings ?? [];
  }
  return health;
}

/** The docs' commit at the last check. Null: never checked. */
export async function lastCheckedCommit(db: Queryable, projectId: string): Promise<string | null> {
  const { rows } = await db.query<{ commit: string }>(
    `select commit_id as "commit" from site_checks where project_id = $1 and problem is null
     order by checked_at desc limit 1`,
    [projectId],
  );
  return rows[0]?.commit ?? null;
}

/** Projects that were added since the last round: their first findings are wanted soon. */
export async function listNewSites(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from projects where not exists (select from site_checks where project_id = projects.id)
     order by id limit 100`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Projects whose site was not checked for a day, or not since one of their latest jobs ended or was merged, or never
 * successfully: an empty repository may have content now.
 */
export async function listDueSiteChecks(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from projects left join lateral (
       select max(checked_at) as at, max(checked_at) filter (where problem is null) as found_at
       from site_checks where project_id = projects.id
     ) last on true
     where found_at is null or at < clock_timestamp() - interval '1 day'
       or exists (select from claims where project_id = projects.id and changed_at > at)
       or exists (select from (select status, updated_at from jobs where project_id = projects.id
                                order by id desc limit 200) latest
                  where status <> 'active' and updated_at > at)
     order by at nulls first limit 100`,
  );
  return rows.map(({ id }) => id);
}
