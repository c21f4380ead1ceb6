import type { FarEnd } from "@emend/testkit/forges/far-end.ts";
import type { Queryable } from "../../server/src/db/pool.ts";
import type { Entry } from "../chaos/judge.ts";

/** What the forge, the quota and the events say. The other judge compares the jobs with what was acknowledged. */
export async function judgeEffects(
  db: Queryable,
  far: Pick<FarEnd, "state" | "violations">,
  limited: { projectId: string; quota: number },
): Promise<readonly Entry[]> {
  const wrong: string[] = [...far.violations];
  const { rows } = await db.query<{ id: string; branch: string; pr_link: string | null; project_id: string }>(
    "select id, branch, pr_link, project_id from jobs",
  );
  const pulls = Map.groupBy(far.state.pulls, ({ head }) => head);
  for (const { id, branch, pr_link } of rows) {
    const own = pulls.get(branch) ?? [];
    if (own.length !== 1) wrong.push(`${id} has ${own.length} pull requests`);
    if (pr_link === null) wrong.push(`${id} has no link`);
  }
  const strangers = far.state.pulls.length - rows.length;
  if (strangers > 0) wrong.push(`${strangers} pull requests more than jobs`);
  const used = rows.filter(({ project_id }) => project_id === limited.projectId).length;
  if (used !== limited.quota) wrong.push(`${used} jobs were accepted with a quota of ${limited.quota}`);
  wrong.push(...(await findGaps(db)));
  return wrong.map((what) => ({ kind: "unexpected", what }));
}

async function findGaps(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from jobs left join job_events on job_id = id group by id
     having count(seq) <> event_seq or min(seq) <> 1 or max(seq) <> event_seq`,
  );
  return rows.map(({ id }) => `the events of ${id} have a gap`);
}
