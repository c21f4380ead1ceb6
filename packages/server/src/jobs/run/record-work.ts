import { promisify } from "node:util";
import { deflate, inflate } from "node:zlib";
import { channels } from "../../db/listener.ts";
import { type Queryable, toJsonb, toText } from "../../db/pool.ts";
import { type Lease, LeaseLost, writeFenced } from "./leases.ts";

const pathsKeptMax = 200;

export interface RecordedBase {
  commit: string;
  branch: string;
  /** For a follow-up: files that people changed on the branch since the previous round. */
  pushedByPeople?: readonly string[];
}

/** The commit that every later run of this job reads, whatever is pushed meanwhile. */
export async function recordBase(db: Queryable, lease: Lease, base: RecordedBase): Promise<void> {
  const { commit, branch, pushedByPeople = [] } = base;
  await writeFenced(db, lease, {
    set: `base_commit = $5, base_branch = $6, phase = 'working', people_paths = case when cardinality($7::text[]) > 0
      then array(select distinct unnest(people_paths || $7::text[]) order by 1 limit ${pathsKeptMax})
      else people_paths end`,
    values: [commit, branch, pushedByPeople.slice(0, pathsKeptMax).map(toText)],
    event: { kind: "phase", data: { phase: "working", base: { commit, branch } } },
  });
}

/** The commit at which a job reads a context repository. */
export interface PinnedContext {
  name: string;
  repositoryUrl: string;
  forge: string;
  ref: string;
  commit: string;
}

/** Every later run of this job reads the same commit, whatever is pushed meanwhile. */
export async function recordContext(db: Queryable, lease: Lease, pinned: PinnedContext): Promise<void> {
  const { rowCount } = await db.query(
    `update jobs set updated_at = clock_timestamp(), context = (
       select coalesce(jsonb_agg(one), '[]') from jsonb_array_elements(context) one where one ->> 'name' <> $4
     ) || $3::jsonb where id = $1 and lease = $2`,
    [lease.jobId, lease.token, toJsonb([pinned]), pinned.name],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}

interface StoredStep {
  number: number;
  /** Only the messages that the step added. */
  messages: readonly unknown[];
  usage: { model: string; inputTokens: number; outputTokens: number; cachedInputTokens: number; costUsd: number };
  /** The interjections that it took. */
  taken?: readonly string[];
}

/** What somebody said to the job while it works. */
export interface Interjection {
  id: string;
  text: string;
}

/** Those that no step took yet. */
export async function loadInterjections(db: Queryable, jobId: string): Promise<readonly Interjection[]> {
  const { rows } = await db.query<Interjection>(
    "select id, prompt as text from job_interjections where job_id = $1 and taken_at is null order by id",
    [jobId],
  );
  return rows;
}

export interface StoredEdit {
  path: string;
  mode: string;
  /** Null if the file is deleted. */
  content: Buffer | null;
}

/**
 * Stores a step with its edits in one transaction: after this, the step is never paid for again. Idempotent, because a
 * response can get lost with its connection. A step that waited for the database longer than its lease is stored too,
 * unless another run was claimed meanwhile. Then this run is over. True: somebody may have said something meanwhile.
 */
export async function recordStep(
  db: Queryable,
  lease: Lease,
  /** `diff`: the whole change so far, for those who watch. `run`: which run of the job it is. */
  input: { step: StoredStep; edits: readonly StoredEdit[]; event: unknown; diff?: Buffer | null; run?: number },
): Promise<boolean> {
  const { step, edits } = input;
  const contents = await Promise.all(edits.map((edit) => edit.content && promisify(deflate)(edit.content)));
  const { rows } = await db.query<{ is_leased: boolean; has_interjections: boolean }>(
    `with held as (
       select id, lease is not null as is_leased, has_interjections from jobs
       where id = $1 and (lease = $2
         or (lease is null and runs = $11 and waiting_since is null and commit_id is null and status = 'active'))
       for no key update
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
     ), taken as (
       update job_interjections set taken_at = clock_timestamp(), step = $3
       from step where job_interjections.job_id = step.job_id and id = any ($12::bigint[])
     ), changed as (
       update jobs set model = case when $5::jsonb ? 'by' then model else $5::jsonb ->> 'model' end,
         chosen_model = coalesce(chosen_model, model),
         retries = 0, usage = ${totalUsage}, working_diff = coalesce($10, working_diff),
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       from step where jobs.id = step.job_id
       returning jobs.id, event_seq
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, 'step', $9::jsonb from changed
     )
     select is_leased, has_interjections from held`,
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
      input.diff ? await promisify(deflate)(input.diff) : null,
      input.run ?? null,
      step.taken ?? [],
    ],
  );
  if (!rows[0]?.is_leased) throw new LeaseLost(lease.jobId);
  return rows[0].has_interjections;
}

const totalUsage = `jsonb_build_object(
  'steps', coalesce((jobs.usage ->> 'steps')::int, 0) + 1,
  'secondReaderCostUsd', coalesce((jobs.usage ->> 'secondReaderCostUsd')::numeric, 0)
    + case when $5::jsonb ? 'by' then ($5::jsonb ->> 'costUsd')::numeric else 0 end,
  ${["inputTokens", "outputTokens", "cachedInputTokens", "costUsd"]
    .map((key) => `'${key}', coalesce((jobs.usage ->> '${key}')::numeric, 0) + ($5::jsonb ->> '${key}')::numeric`)
    .join(", ")})`;

/** What earlier runs of a job stored. Any node can continue from here. */
export async function loadRun(
  db: Queryable,
  jobId: string,
): Promise<{ steps: readonly StoredStep[]; followUps: readonly StoredFollowUp[]; edits: readonly StoredEdit[] }> {
  const [steps, followUps, edits] = await Promise.all([
    loadSteps(db, jobId),
    loadFollowUps(db, jobId),
    loadEdits(db, jobId),
  ]);
  return { steps, followUps, edits };
}

interface StoredFollowUp {
  prompt: string;
  afterStep: number;
}

async function loadFollowUps(db: Queryable, jobId: string): Promise<readonly StoredFollowUp[]> {
  const { rows } = await db.query<StoredFollowUp>(
    `select prompt, after_step as "afterStep" from job_messages where job_id = $1 order by number`,
    [jobId],
  );
  return rows;
}

async function loadSteps(db: Queryable, jobId: string): Promise<readonly StoredStep[]> {
  const { rows } = await db.query<StoredStep>(
    "select number, coalesce(said, messages::json) as messages, usage from steps where job_id = $1 order by number",
    [jobId],
  );
  return rows;
}

async function loadEdits(db: Queryable, jobId: string): Promise<readonly StoredEdit[]> {
  const { rows } = await db.query<StoredEdit>(
    "select path, mode, content from overlay where job_id = $1 order by path",
    [jobId],
  );
  const contents = await Promise.all(rows.map((row) => row.content && promisify(inflate)(row.content)));
  return rows.map((row, index) => ({ ...row, content: contents[index] ?? null }));
}

const noticesMax = 20;

/** Records a problem that does not fail the job. The same text is stored once. Without a token, the job may have ended. */
export async function recordNotice(
  db: Queryable,
  lease: Pick<Lease, "jobId"> & Partial<Lease>,
  words: string,
): Promise<void> {
  const { rowCount } = await db.query(
    `with changed as (
       update jobs set updated_at = clock_timestamp(),
         notices = case when notices ? $3 or jsonb_array_length(notices) >= ${noticesMax} then notices
           else notices || to_jsonb($3::text) end
       where id = $1 and ($2::uuid is null or lease = $2) returning id
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [lease.jobId, lease.token ?? null, toText(words)],
  );
  if (rowCount === 0 && lease.token !== undefined) throw new LeaseLost(lease.jobId);
}

/**
 * Deletes what the agent said and wrote, because it contains a credential: the messages of its steps, its edits, and
 * their events. Tool names and costs stay.
 */
export async function withholdContents(db: Queryable, lease: Lease): Promise<void> {
  const { rows } = await db.query(
    `with held as (
       select id from jobs where id = $1 and lease = $2 for no key update
     ), emptied as (
       update steps set messages = '[]' from held where steps.job_id = held.id
     ), dropped as (
       delete from overlay using held where overlay.job_id = held.id
     ), hidden as (
       update jobs set working_diff = null from held where jobs.id = held.id
     ), redacted as (
       update job_events set data = (data - 'files') || jsonb_build_object('text', '', 'tools', (
         select coalesce(jsonb_agg(tool || '{"input": {}}' order by place), '[]')
         from jsonb_array_elements(data -> 'tools') with ordinality as each (tool, place)
       ))
       from held where job_events.job_id = held.id and kind = 'step'
     )
     select id from held`,
    [lease.jobId, lease.token],
  );
  if (rows.length === 0) throw new LeaseLost(lease.jobId);
}
