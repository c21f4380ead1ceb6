import type { Queryable } from "../db/pool.ts";
import type { SiteCheck, SiteFinding, SiteHealth } from "./site-check.ts";

type Row =
  | (SiteCheck & { problem: null; findings: readonly SiteFinding[] | null })
  | { checkedAt: Date; problem: string };

export async function readSiteHealth(db: Queryable, projectId: string): Promise<SiteHealth> {
  const { rows } = await db.query<Row>(
    `select checked_at as "checkedAt", commit_id as "commit", branch, framework, pages, counts, findings, problem
     from site_checks where project_id = $1 order by checked_at`,
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
