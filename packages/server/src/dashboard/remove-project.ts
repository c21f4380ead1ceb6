import type { Pool } from "../db/pool.ts";
import { type Actor, inTransactionAs } from "../db/transaction.ts";
import { AppError } from "../errors.ts";

/** Deletes a project with all its data. The audit log, the repository and pull requests on the forge stay. */
export async function removeProject(pool: Pool, project: { id: string; name: string }, by: Actor): Promise<void> {
  await inTransactionAs(pool, by, async (client) => {
    // New jobs refer to this row, so the lock prevents new ones.
    await client.query("select from projects where id = $1 for update", [project.id]);
    const { rows } = await client.query<{ active: number }>(
      "select count(*)::int as active from jobs where project_id = $1 and status = 'active'",
      [project.id],
    );
    const active = rows[0]?.active ?? 0;
    if (active > 0) {
      const jobs = active === 1 ? "One job of the project is" : `${active} jobs of the project are`;
      throw new AppError("conflict", { publicMessage: `${jobs} running. Wait for them or cancel them first.` });
    }
    for (const table of ["webhooks", "local_pull_requests", "idempotency_keys", "quota_uses"]) {
      await client.query(`delete from ${table} where project_id = $1`, [project.id]);
    }
    // Invalidates the job caches of all nodes.
    await client.query(
      "with gone as (delete from jobs where project_id = $1 returning id) select pg_notify('emend_job_changed', id) from gone",
      [project.id],
    );
    await client.query("delete from projects where id = $1", [project.id]);
    await client.query("select pg_notify('emend_project_changed', $1)", [project.id]);
  });
}
