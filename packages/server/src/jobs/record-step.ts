import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { toJsonb } from "./to-jsonb.ts";

export interface StoredStep {
  number: number;
  /** Only those that the step added. */
  messages: readonly unknown[];
  usage: { model: string; inputTokens: number; outputTokens: number; cachedInputTokens: number; costUsd: number };
}

export interface StoredEdit {
  path: string;
  mode: string;
  /** Null where the file is deleted. */
  content: Buffer | null;
}

/**
 * Stores a step with the edits it made, all or nothing: once this returns, nobody pays for the step again. Saying it
 * twice, as after an answer that got lost with its connection, counts it once.
 */
export async function recordStep(
  db: Queryable,
  lease: Lease,
  input: { step: StoredStep; edits: readonly StoredEdit[]; event: unknown },
): Promise<void> {
  const { step, edits } = input;
  const contents = await Promise.all(edits.map((edit) => edit.content && promisify(deflate)(edit.content)));
  const { rows } = await db.query<{ held: boolean }>(
    `with held as (
       select id from jobs where id = $1 and lease = $2 for no key update
     ), step as (
       insert into steps (job_id, number, messages, said, usage) select id, $3, $4::text::jsonb, $4::text::json, $5::jsonb from held
       on conflict do nothing
       returning job_id
     ), edits as (
       insert into overlay (job_id, path, mode, content, deleted)
       select step.job_id, edit.path, edit.mode, edit.content, edit.content is null
       from step, unnest($6::text[], $7::text[], $8::bytea[]) as edit (path, mode, content)
       on conflict (job_id, path) do update
         set mode = excluded.mode, content = excluded.content, deleted = excluded.deleted
     ), changed as (
       update jobs set model = $5::jsonb ->> 'model', chosen_model = coalesce(chosen_model, model),
         retries = 0, usage = ${totalUsage},
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       from step where jobs.id = step.job_id
       returning jobs.id, event_seq
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'step', $9::jsonb from changed
     )
     select true as held, (select pg_notify('${channels.jobChanged}', id) from changed) from held`,
    [
      lease.jobId,
      lease.token,
      step.number,
      toJsonb(step.messages),
      toJsonb(step.usage),
      edits.map((edit) => edit.path),
      edits.map((edit) => edit.mode),
      contents,
      toJsonb(input.event),
    ],
  );
  if (rows.length === 0) throw new LeaseLost(lease.jobId);
}

const totalUsage = `jsonb_build_object(
  'steps', coalesce((jobs.usage ->> 'steps')::int, 0) + 1,
  ${["inputTokens", "outputTokens", "cachedInputTokens", "costUsd"]
    .map((key) => `'${key}', coalesce((jobs.usage ->> '${key}')::numeric, 0) + ($5::jsonb ->> '${key}')::numeric`)
    .join(", ")})`;
