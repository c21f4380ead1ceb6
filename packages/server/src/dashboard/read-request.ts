import type { DashboardJob } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";

interface Row {
  baseRef: string | null;
  model: string;
  draft: boolean | null;
  maxCostUsd: number | null;
  preview: boolean;
  messages: DashboardJob["messages"];
}

/** What was asked of a job: at first beyond its prompt, and since. */
export async function readRequest(db: Queryable, id: string): Promise<Pick<DashboardJob, "options" | "messages">> {
  const { rows } = await db.query<Row>(
    `select base_ref as "baseRef", coalesce(chosen_model, model) as model, draft, max_cost_usd as "maxCostUsd", preview,
       (select coalesce(jsonb_agg(jsonb_build_object('number', number, 'prompt', prompt, 'createdBy', created_by,
          'at', wire_time(created_at)) order by number), '[]')
        from job_messages where job_id = jobs.id) as messages
     from jobs where id = $1`,
    [id],
  );
  const [row] = rows;
  if (!row) return { options: {}, messages: [] };
  const { baseRef, model, draft, maxCostUsd, preview, messages } = row;
  return {
    options: {
      model,
      ...(baseRef !== null && { baseRef }),
      ...(draft !== null && { draft }),
      ...(maxCostUsd !== null && { maxCostUsd }),
      ...(preview && { preview }),
    },
    messages,
  };
}
