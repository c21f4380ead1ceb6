import type { Queryable } from "../db/pool.ts";
import type { AdminKey } from "./admin-key.ts";

/** Every key, or those of one project; newest first. */
export async function listKeys(db: Queryable, filter: { projectId?: string } = {}): Promise<readonly AdminKey[]> {
  const { rows } = await db.query<AdminKey>(
    `select id, hint, name, project_ids as "projectIds", scope, expires_at as "expiresAt", allow_list as "allowList",
       created_by as "createdBy", created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
     from admin_keys where $1::text is null or $1 = any (project_ids) order by created_at desc, id`,
    [filter.projectId ?? null],
  );
  return rows;
}
