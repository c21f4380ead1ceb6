import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import type { CheckCount, SiteCheck, SiteFinding } from "./site-check.ts";

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

/**
 * One row a commit and day: a base that stands still does not fill the table, and neither does one that moves often.
 */
export async function storeSiteCheck(pool: Pool, projectId: string, check: NewSiteCheck): Promise<void> {
  const worst = check.findings.toSorted((a, b) => rank[a.severity] - rank[b.severity]).slice(0, findingsMax);
  await inTransaction(pool, async (client) => {
    await client.query("select 1 from projects where id = $1 for update", [projectId]);
    await client.query(
      `delete from site_checks where project_id = $1 and (problem is not null
         or (commit_id = $2 and checked_at > clock_timestamp() - interval '1 day'
             and checked_at = (select max(checked_at) from site_checks where project_id = $1)))`,
      [projectId, check.commit],
    );
    await client.query("update site_checks set findings = null where project_id = $1 and findings is not null", [
      projectId,
    ]);
    await client.query(
      `insert into site_checks (project_id, commit_id, branch, framework, pages, counts, findings)
       select id, $2, $3, $4, $5, $6, $7 from projects where id = $1`,
      [
        projectId,
        check.commit,
        check.branch,
        check.framework,
        check.pages,
        JSON.stringify(countsOf(check.findings)),
        JSON.stringify(worst.map(shown)),
      ],
    );
    await client.query(
      `delete from site_checks where project_id = $1 and checked_at <
         (select checked_at from site_checks where project_id = $1 order by checked_at desc offset $2 limit 1)`,
      [projectId, checksKept - 1],
    );
  });
}

/** Says why the last look failed; what was found before stays. */
export async function storeSiteProblem(pool: Pool, projectId: string, words: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query("delete from site_checks where project_id = $1 and problem is not null", [projectId]);
    await client.query("insert into site_checks (project_id, problem) select id, $2 from projects where id = $1", [
      projectId,
      words.slice(0, wordsMax),
    ]);
  });
}

function countsOf(findings: readonly FullFinding[]): CheckCount[] {
  const counts = new Map<string, CheckCount>();
  for (const { check, severity, fix } of findings) {
    const count = counts.get(check) ?? { check, severity, count: 0, fixable: 0 };
    count.count += 1;
    if (fix !== undefined) count.fixable += 1;
    counts.set(check, count);
  }
  return [...counts.values()].sort((a, b) => rank[a.severity] - rank[b.severity] || b.count - a.count);
}

function shown({ check, severity, path, line, message }: SiteFinding): SiteFinding {
  return { check, severity, path, line, message: message.slice(0, wordsMax) };
}
