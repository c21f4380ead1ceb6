import { randomUUID } from "node:crypto";
import type { Queryable } from "../../server/src/db/pool.ts";
import { newId } from "../../server/src/lib/id.ts";

/** Inserts rows as job creation leaves them, for tests of later steps. */
export async function seedProject(db: Queryable, settings: Record<string, unknown> = {}): Promise<string> {
  const id = newId("prj");
  await db.query(
    "insert into projects (id, name, forge, repository_url, settings) values ($1, 'docs', 'local', 'http://forge.test/docs.git', $2)",
    [id, settings],
  );
  return id;
}

export async function seedJob(db: Queryable, projectId: string, prompt = "Fix the links."): Promise<string> {
  const id = newId("job");
  await db.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
     values ($1, $2, $3, 'emend/rules', 'http://forge.test/docs.git', 'emend/' || $1, 'emend/' || $1, 'test', 1)`,
    [id, projectId, prompt],
  );
  await db.query("insert into job_events (job_id, seq, kind, data) values ($1, 1, 'job.created', '{}')", [id]);
  return id;
}

/** Sets columns directly, to reach a state that would otherwise need a whole run. */
export async function alterJob(db: Queryable, id: string, assignments: string): Promise<void> {
  await db.query(`update jobs set ${assignments} where id = $1`, [id]);
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whichever column it is about
export async function readJob(db: Queryable, id: string): Promise<any> {
  const { rows } = await db.query("select * from jobs where id = $1", [id]);
  return rows[0];
}

export async function readEvents(db: Queryable, id: string): Promise<readonly { seq: number; kind: string }[]> {
  const { rows } = await db.query("select seq, kind, data from job_events where job_id = $1 order by seq", [id]);
  return rows;
}

export function foreignLease(jobId: string): { jobId: string; token: string } {
  return { jobId, token: randomUUID() };
}
