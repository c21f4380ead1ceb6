import type { OpenPullRequest } from "@emend/forges";
import type { Queryable } from "../db/pool.ts";
import { isOrphaned, type Trigger } from "./automation.ts";

/** A trigger whose repository is to be looked at. */
export interface Look {
  id: string;
  projectId: string;
  trigger: Extract<Trigger, { kind: "push" | "pull_request" }>;
  /** Null: the docs' own repository. */
  repositoryId: string | null;
  repositoryUrl: string;
  baseRef: string | null;
  now: Date;
  /** Where its branches and tags, or its open pull requests, were; empty: it was never looked at. */
  known: ReadonlyMap<string, string>;
  /** Of a pull request trigger, by the same names. */
  details: Readonly<Record<string, OpenPullRequest>>;
}

const everySeconds = 300;
/** A folder on the same machine costs nothing to look at, and sends no webhook. */
const localEverySeconds = 30;

/** Takes one that is due and says when it is due again; who dies while looking only delays the next look. */
export async function claimTriggerPoll(db: Queryable): Promise<Look | null> {
  const { rows } = await db.query<Omit<Look, "known"> & { refs: Record<string, string> | null }>(
    `with next as (
       select automations.id, coalesce(repository.forge, projects.forge) as forge,
         coalesce(repository.repository_url, projects.repository_url) as url,
         case when repository.id is null then projects.base_ref else repository.base_ref end as base_ref
       from automations join projects on projects.id = automations.project_id
         left join context_repositories repository on repository.id = repository_id
       where trigger ->> 'kind' in ('push', 'pull_request') and paused_at is null and not ${isOrphaned}
         and due_at <= clock_timestamp()
       order by due_at limit 1 for update of automations skip locked
     )
     update automations set due_at = clock_timestamp()
       + make_interval(secs => case when next.forge = 'local' then $2::int else $1::int end)
     from next where automations.id = next.id
     returning automations.id, project_id as "projectId", trigger, repository_id as "repositoryId",
       next.url as "repositoryUrl", next.base_ref as "baseRef", clock_timestamp() as now,
       (select jsonb_object_agg(ref, commit_id) from automation_refs where automation_id = automations.id) as refs,
       coalesce((select jsonb_object_agg(ref, automation_refs.details) from automation_refs
                 where automation_id = automations.id and automation_refs.details is not null), '{}') as details`,
    [everySeconds, localEverySeconds],
  );
  if (!rows[0]) return null;
  const { refs, ...look } = rows[0];
  return { ...look, known: new Map(Object.entries(refs ?? {})) };
}

/** A forge said that something happened: the project's triggers of this kind look now. Gives how many. */
export async function hastenTriggers(
  db: Queryable,
  projectId: string,
  kind: "push" | "pull_request" = "push",
): Promise<number> {
  const { rowCount } = await db.query(
    `update automations set due_at = least(due_at, clock_timestamp())
     where project_id = $1 and trigger ->> 'kind' = $2 and paused_at is null and not ${isOrphaned}`,
    [projectId, kind],
  );
  return rowCount ?? 0;
}
