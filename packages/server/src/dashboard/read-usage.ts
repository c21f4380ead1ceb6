import type { DashboardUsage, DashboardUsageFigures } from "@emend/contract";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";

/**
 * Archived jobs count by their earlier status: a failure's code is kept. For a job with follow-ups, the duration is
 * unknown. Grouped by day, and within it by project, by model, by both and in total; an empty name means all.
 */
const countedOfDay = `
  select $1::date as day,
    case when grouping(project_id) = 1 then '' else project_id end as project_id,
    case when grouping(model) = 1 then '' else coalesce(nullif(model, ''), '?') end as model,
    count(*)::int as jobs,
    count(*) filter (where ended_at is not null and failure_code is null)::int as completed,
    count(*) filter (where failure_code is not null)::int as failed,
    count(*) filter (where pull_request is not null)::int as pull_requests,
    count(*) filter (where pull_request ->> 'state' = 'merged')::int as merged,
    coalesce(sum((usage ->> 'inputTokens')::float8), 0)::float8 as input_tokens,
    coalesce(sum((usage ->> 'outputTokens')::float8), 0)::float8 as output_tokens,
    coalesce(sum((usage ->> 'costUsd')::float8), 0)::float8 as cost_usd,
    count(took_ms)::int as timed,
    percentile_cont(0.5) within group (order by took_ms) as median_ms
  from (
    select project_id, model, ended_at, failure_code, pull_request, usage,
      case when ended_at is not null and not exists (select from job_messages where job_id = jobs.id)
        then extract(epoch from ended_at - created_at) * 1000 end as took_ms
    from jobs where created_at >= $1::date::timestamp at time zone 'UTC'
      and created_at < ($1::date + 1)::timestamp at time zone 'UTC'
  ) jobs
  group by grouping sets ((), (project_id), (model), (project_id, model))`;
const columns = `day, project_id, model, jobs, completed, failed, pull_requests, merged, input_tokens, output_tokens,
  cost_usd, timed, median_ms`;
const today = "(statement_timestamp() at time zone 'UTC')::date";

/** How long today's totals are used, relative to the time to count them: 20 ms after 1 ms, 4 s after 200 ms. */
const restPerCount = 20;
const isFresh = `exists (select from usage_today where usage_today.day = ${today}
  and counted_at + make_interval(secs => took_ms * ${restPerCount} / 1000) > clock_timestamp())`;

/** Oldest first, with today. Days whose totals are not stored yet, and today's if they are old, are counted first. */
async function listDays(pool: Pool, days: number): Promise<readonly string[]> {
  const { rows } = await pool.query<{ day: string; isToday: boolean; isStored: boolean }>(
    `select to_char(asked, 'YYYY-MM-DD') as day, asked = ${today} as "isToday",
       case when asked = ${today} then ${isFresh} else exists (select from usage_rolled_days rolled where rolled.day = asked)
         or not exists (select from jobs where created_at >= asked::timestamp at time zone 'UTC'
           and created_at < (asked + 1)::timestamp at time zone 'UTC') end as "isStored"
     from (select ${today} - ago as asked from generate_series(0, $1::int - 1) ago) days order by asked`,
    [days],
  );
  for (const { day, isToday, isStored } of rows) {
    if (isStored) continue;
    if (isToday) await countToday(pool, day);
    else await rollDay(pool, { day, isNew: true });
  }
  return rows.map(({ day }) => day);
}

async function countToday(pool: Pool, day: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockDay(client, day);
    const { rows } = await client.query<{ isFresh: boolean }>(`select ${isFresh} as "isFresh"`);
    // Somebody else counted meanwhile.
    if (rows[0]?.isFresh) return;
    const startedAt = performance.now();
    await storeDay(client, day);
    await client.query(
      `insert into usage_today (day, counted_at, took_ms) values ($1, clock_timestamp(), $2)
       on conflict (id) do update set day = excluded.day, counted_at = excluded.counted_at, took_ms = excluded.took_ms`,
      [day, performance.now() - startedAt],
    );
  });
}

interface Row extends DashboardUsageFigures {
  kind: "total" | "day" | "project" | "model";
  key: string;
  project: string | null;
}

/** Those with the most jobs, and as many with the highest cost. */
const projectsShownMax = 50;

/** For several days, the median is that of the daily medians, weighted by jobs. */
export async function readUsage(pool: Pool, days: number): Promise<DashboardUsage> {
  const all = await listDays(pool, days);
  const { rowCount: hasRanks } = await pool.query("select from usage_ranks where days = $1 limit 1", [days]);
  const most = (order: string) =>
    hasRanks
      ? `(select project_id from usage_ranks where days = ${days} order by ${order} desc limit ${projectsShownMax})`
      : `(select project_id from usage_days where day = any ($1) and model = '' and project_id <> ''
          group by project_id order by sum(${order}) desc limit ${projectsShownMax})`;
  const { rows } = await pool.query<Row>(
    `with shown as (
       ${most("jobs")} union ${most("cost_usd")} union
       (select project_id from usage_days where day = $2 and model = '' and project_id <> ''
        order by jobs desc limit ${projectsShownMax})
     ), parts as (
       select ${columns} from usage_days where day = any ($1::date[]) and project_id = ''
       union all
       select used.* from shown join projects on projects.id = shown.project_id cross join lateral (
         select ${columns} from usage_days where project_id = shown.project_id and day = any ($1::date[]) and model = ''
       ) used
     ), keyed as (
       select 'total' as kind, '' as key, parts.* from parts where project_id = '' and model = ''
       union all
       select 'day', to_char(day, 'YYYY-MM-DD'), parts.* from parts where project_id = '' and model = ''
       union all
       select 'project', project_id, parts.* from parts where project_id <> '' and model = ''
       union all
       select 'model', model, parts.* from parts where project_id = '' and model <> ''
     ), weighed as (
       select *, sum(timed) over (partition by kind, key order by median_ms) as upto,
         sum(timed) over (partition by kind, key) as timed_all
       from keyed
     ), summed as (
       select kind, key, sum(jobs)::int as jobs, sum(completed)::int as completed, sum(failed)::int as failed,
         sum(pull_requests)::int as "pullRequests", sum(merged)::int as merged, sum(input_tokens) as "inputTokens",
         sum(output_tokens) as "outputTokens", sum(cost_usd) as "costUsd",
         (min(median_ms) filter (where timed > 0 and upto * 2 >= timed_all)
           + min(median_ms) filter (where timed > 0 and upto * 2 > timed_all)) / 2 as "medianMs"
       from weighed group by kind, key
     )
     select summed.*, projects.name as project from summed left join projects on kind = 'project' and projects.id = key
     order by jobs desc, key`,
    [all, all.at(-1)],
  );
  const of = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind);
  const byDay = new Map(of("day").map((row) => [row.key, row]));
  return {
    days,
    total: figuresOf(of("total")[0]),
    byDay: all.map((day) => ({ day, ...figuresOf(byDay.get(day)) })),
    byProject: of("project").map((row) => ({ projectId: row.key, project: row.project ?? "", ...figuresOf(row) })),
    byModel: of("model").map((row) => ({ model: row.key, ...figuresOf(row) })),
  };
}

export interface UsageLine extends DashboardUsageFigures {
  day: string;
  projectId: string;
  project: string;
  model: string;
}

/** By day, project and model. */
export async function readUsageLines(pool: Pool, days: number): Promise<readonly UsageLine[]> {
  const { rows } = await pool.query<UsageLine>(
    `select to_char(day, 'YYYY-MM-DD') as day, project_id as "projectId", projects.name as project, model, jobs, completed,
       failed, pull_requests as "pullRequests", merged, input_tokens as "inputTokens", output_tokens as "outputTokens",
       cost_usd as "costUsd", median_ms as "medianMs"
     from usage_days join projects on projects.id = project_id
     where day = any ($1::date[]) and project_id <> '' and model <> '' order by 1, 3, 4`,
    [await listDays(pool, days)],
  );
  return rows;
}

const daysRolledMax = 1_000;
/** As the usage page offers them. */
const spans = [7, 30, 90];

/**
 * Stores the totals of past days that are new, or of which a job changed since. A new day is computed twice: the first
 * time it may miss a transaction that did not see the day yet.
 */
export async function rollUsageUp(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ day: string; isNew: boolean }>(
    `select to_char(day, 'YYYY-MM-DD') as day, false as "isNew" from usage_rolled_days where changed_at is not null
     union all
     select to_char(past, 'YYYY-MM-DD'), true
     from (select greatest((min(created_at) at time zone 'UTC')::date, ${today} - ${daysRolledMax}) as first from jobs) oldest
     cross join generate_series(first, ${today} - 1, interval '1 day') past
     where not exists (select from usage_rolled_days where day = past::date)`,
  );
  for (const row of rows) await rollDay(pool, row);
  await rankProjects(
    pool,
    rows.some(({ isNew }) => isNew),
  );
  return rows.length;
}

async function rollDay(pool: Pool, { day, isNew }: { day: string; isNew: boolean }): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Locked first and counted after: a later change of that day's jobs waits, and marks the day again.
    await client.query(
      `insert into usage_rolled_days values ($1, case when $2 then clock_timestamp() end)
       on conflict (day) do update set changed_at = excluded.changed_at`,
      [day, isNew],
    );
    await lockDay(client, day);
    await storeDay(client, day);
  });
}

async function lockDay(client: Queryable, day: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('emend/usage/' || $1, 0))", [day]);
}

async function storeDay(client: Queryable, day: string): Promise<void> {
  await client.query("delete from usage_days where day = $1", [day]);
  await client.query(`insert into usage_days (${columns}) ${countedOfDay}`, [day]);
}

/** Once a day: how many jobs a past day had hardly changes. */
async function rankProjects(pool: Pool, hasNewDay: boolean): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(`select from usage_ranks where through = ${today} - 1 limit 1`);
    if (rowCount && !hasNewDay) return;
    await client.query("lock table usage_ranks in share row exclusive mode");
    await client.query("delete from usage_ranks");
    await client.query(
      `insert into usage_ranks
       select span, project_id, sum(jobs), sum(cost_usd), ${today} - 1
       from unnest($1::int[]) span join usage_days on day > ${today} - span and day < ${today}
       where project_id <> '' and model = '' group by span, project_id`,
      [spans],
    );
  });
}

function figuresOf(row: DashboardUsageFigures | undefined): DashboardUsageFigures {
  return {
    jobs: row?.jobs ?? 0,
    completed: row?.completed ?? 0,
    failed: row?.failed ?? 0,
    pullRequests: row?.pullRequests ?? 0,
    merged: row?.merged ?? 0,
    inputTokens: row?.inputTokens ?? 0,
    outputTokens: row?.outputTokens ?? 0,
    costUsd: row?.costUsd ?? 0,
    medianMs: row?.medianMs == null ? null : Math.round(row.medianMs),
  };
}
