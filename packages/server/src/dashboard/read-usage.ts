import type { DashboardUsage, DashboardUsageFigures } from "@emend/contract";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";

/**
 * Archived jobs count by their earlier status: a failure's code is kept. For a job with follow-ups, the duration is
 * unknown. Grouped by day, and within it by project, by model, by both and in total; an empty name means all.
 */
const countedOfDays = `
  select day,
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
  from unnest($1::date[]) as asked (day) cross join lateral (
    select project_id, model, ended_at, failure_code, pull_request, usage,
      case when ended_at is not null and not exists (select from job_messages where job_id = jobs.id)
        then extract(epoch from ended_at - created_at) * 1000 end as took_ms
    from jobs where created_at >= asked.day::timestamp at time zone 'UTC'
      and created_at < (asked.day + 1)::timestamp at time zone 'UTC'
  ) jobs
  group by grouping sets ((day), (day, project_id), (day, model), (day, project_id, model))`;
const columns = `day, project_id, model, jobs, completed, failed, pull_requests, merged, input_tokens, output_tokens,
  cost_usd, timed, median_ms`;
/** $1: the days to count now. $2: the days with stored totals. */
const partsOf = (lines: string) => `
  parts as (
    select * from (${countedOfDays}) counted where ${lines}
    union all
    select ${columns} from usage_days where day = any ($2::date[]) and ${lines}
  )`;
const today = "(clock_timestamp() at time zone 'UTC')::date";

interface Days {
  /** Oldest first. */
  all: readonly string[];
  counted: readonly string[];
  rolled: readonly string[];
}

async function listDays(db: Queryable, days: number): Promise<Days> {
  const { rows } = await db.query<{ day: string; isRolled: boolean }>(
    `select to_char(asked, 'YYYY-MM-DD') as day, rolled.day is not null as "isRolled"
     from generate_series(${today} - ($1::int - 1), ${today}, interval '1 day') asked
     left join usage_rolled_days rolled on rolled.day = asked::date order by asked`,
    [days],
  );
  return {
    all: rows.map(({ day }) => day),
    counted: rows.filter(({ isRolled }) => !isRolled).map(({ day }) => day),
    rolled: rows.filter(({ isRolled }) => isRolled).map(({ day }) => day),
  };
}

interface Row extends DashboardUsageFigures {
  kind: "total" | "day" | "project" | "model";
  key: string;
  project: string | null;
}

/** For several days, the median is that of the daily medians, weighted by jobs. */
export async function readUsage(db: Queryable, days: number): Promise<DashboardUsage> {
  const { all, counted, rolled } = await listDays(db, days);
  const { rows } = await db.query<Row>(
    `with ${partsOf("(project_id = '' or model = '')")}, keyed as (
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
     where kind <> 'project' or projects.id is not null
     order by jobs desc, key`,
    [counted, rolled],
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
export async function readUsageLines(db: Queryable, days: number): Promise<readonly UsageLine[]> {
  const { counted, rolled } = await listDays(db, days);
  const { rows } = await db.query<UsageLine>(
    `with ${partsOf("project_id <> '' and model <> ''")}
     select to_char(day, 'YYYY-MM-DD') as day, project_id as "projectId", projects.name as project, model, jobs, completed,
       failed, pull_requests as "pullRequests", merged, input_tokens as "inputTokens", output_tokens as "outputTokens",
       cost_usd as "costUsd", median_ms as "medianMs"
     from parts join projects on projects.id = project_id order by 1, 3, 4`,
    [counted, rolled],
  );
  return rows;
}

const daysRolledMax = 1_000;

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
  for (const { day, isNew } of rows) {
    await inTransaction(pool, async (client) => {
      // Locked first and counted after: a later change of that day's jobs waits, and marks the day again.
      await client.query(
        `insert into usage_rolled_days values ($1, case when $2 then clock_timestamp() end)
         on conflict (day) do update set changed_at = excluded.changed_at`,
        [day, isNew],
      );
      await client.query("delete from usage_days where day = $1", [day]);
      await client.query(`insert into usage_days (${columns}) ${countedOfDays}`, [[day]]);
    });
  }
  return rows.length;
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
