import type { Queryable } from "../db/pool.ts";
import type { Trigger } from "./automation.ts";

/** A push trigger whose repository is due for polling. */
export interface Look {
  id: string;
  trigger: Extract<Trigger, { kind: "push" }>;
  repositoryId: string;
  repositoryUrl: string;
  baseRef: string | null;
  now: Date;
  /** The last known branches and tags. Empty if it was never polled. */
  known: ReadonlyMap<string, string>;
}

const everySeconds = 300;
/** A local folder is cheap to poll, and sends no webhooks. */
const localEverySeconds = 30;

/** Claims a due trigger and schedules its next poll. A crash only delays the next poll. */
export async function claimLook(db: Queryable): Promise<Look | null> {
  const { rows } = await db.query<Omit<Look, "known"> & { refs: Record<string, string> | null }>(
    `update automations set due_at = clock_timestamp()
       + make_interval(secs => case when repository.forge = 'local' then $2::int else $1::int end)
     from context_repositories repository
     where repository.id = repository_id and automations.id = (
       select id from automations
       where trigger ->> 'kind' = 'push' and paused_at is null and repository_id is not null
         and due_at <= clock_timestamp()
       order by due_at limit 1 for update skip locked
     )
     returning automations.id, trigger, repository_id as "repositoryId", repository.repository_url as "repositoryUrl",
       repository.base_ref as "baseRef", clock_timestamp() as now,
       (select jsonb_object_agg(ref, commit_id) from automation_refs where automation_id = automations.id) as refs`,
    [everySeconds, localEverySeconds],
  );
  if (!rows[0]) return null;
  const { refs, ...look } = rows[0];
  return { ...look, known: new Map(Object.entries(refs ?? {})) };
}

/** A forge's webhook reported a push: the project's push triggers poll now. Returns how many. */
export async function hastenLooks(db: Queryable, projectId: string): Promise<number> {
  const { rowCount } = await db.query(
    `update automations set due_at = least(due_at, clock_timestamp())
     where project_id = $1 and trigger ->> 'kind' = 'push' and paused_at is null and repository_id is not null`,
    [projectId],
  );
  return rowCount ?? 0;
}
