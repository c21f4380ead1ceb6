import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/**
 * False where the project has none of this name. Jobs at work keep what they have pinned. Refused while automations
 * watch it: they would go on being called live and never hear of a push again.
 */
export async function removeContextRepository(
  db: Queryable,
  input: { projectId: string; name: string },
): Promise<boolean> {
  const { rows } = await db.query<{ isRemoved: boolean; watchers: string[] | null }>(
    `with found as (select id from context_repositories where project_id = $1 and name = $2),
       watching as (select automations.name from automations join found on found.id = repository_id order by 1),
       removed as (
         delete from context_repositories using found
         where context_repositories.id = found.id and not exists (select from watching) returning found.id
       )
     select exists (select from removed) as "isRemoved", (select array_agg(name) from watching) as watchers`,
    [input.projectId, input.name],
  );
  const { isRemoved = false, watchers } = rows[0] ?? {};
  if (!watchers) return isRemoved;
  throw new AppError("conflict", {
    publicMessage: `These automations use ${input.name}: ${watchers.join(", ")}. Remove them first.`,
  });
}
