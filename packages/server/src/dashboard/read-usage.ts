import type { DashboardUsage, DashboardUsageFigures } from "@emend/contract";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { hadCompleted } from "../jobs/run/end-run.ts";

/**
 * Archived jobs count by their earlier status: a failure's code is kept. A follow-up that failed does not count. For a job with follow-ups, the duration is
 * unknown. Grouped by day, and within it by project, by model, by both and in total; an empty name means all.
 */
const countedOfDay = `
  select $1::date as day,
    case when grouping(project_id) = 1 then '' else project_id end as project_id,
    case when grouping(model) = 1 then '' else coalesce(nullif(model, ''), '?') end as model,
    count(*)::int as jobs,
    count(*) filter (where ended_at is not null and not has_failed)::int as completed,
    count(*) filter (where has_failed)::int as failed,
    count(*) filter (where pull_request is not null)::int as pull_requests,
    count(*) filter (where pull_request ->> 'state' = 'merged')::int as merged,
    coalesce(sum((usage ->> 'inputTokens')::float8), 0)::float8 as input_tokens,
    coalesce(sum((usage ->> 'outputTokens')::float8), 0)::float8 as output_tokens,
    coalesce(sum((usage ->> 'costUsd')::float8), 0)::float8 as cost_usd,
    count(took_ms)::int as timed,
    percentile_cont(0.5) within group (order by took_ms) as median_ms
  from (
    select project_id, model, ended_at, failure_code is not null and not ${hadCompleted} as has_failed, pull_request, usage,
      case when ended_at is not null and not exists (select from job_messages where job_id = jobs.id)
        then extract(epoch from ended_at - created_at) * 1000 end as took_ms
    from jobs where created_at >= $1::date::timestamp at time zone 'UTC'
      and created_at < ($1::date + 1)::timestamp at time zone 'UTC'
  ) jobs
  group by grouping sets ((), (project_id), (model), (project_id, model))`;
const counts = ["jobs", "completed", "failed", "pull_requests", "merged", "timed"];
const amounts = ["input_tokens", "output_tokens", "cost_usd"];
const figureNames = [...counts, ...amounts, "median_ms"];
const figures = figureNames.join(", ");
const figuresIn = (table: string) => figureNames.map((name) => `${table}.${name}`).join(", ");

/** For several days, the median is that of the daily medians, weighted by jobs. */
const weights = (key: string) => `sum(timed) over (partition by ${key} order by median_ms) as upto,
  sum(timed) over (partition by ${key}) as timed_all`;
const sumsOfWeighed = `${counts.map((name) => `sum(${name})::int as ${name}`).join(", ")},
  ${amounts.map((name) => `sum(${name}) as ${name}`).join(", ")},
  (min(median_ms) filter (where timed > 0 and upto * 2 >= timed_all)
    + min(median_ms) filter (where timed > 0 and upto * 2 > timed_all)) / 2 as median_ms`;
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

interface Row {
  kind: "total" | "day" | "project" | "model";
  key: string;
  project: string | null;
  jobs: number;
  completed: number;
  failed: number;
  pull_requests: number;
  merged: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  median_ms: number | null;
}

/** Those with the most jobs, and as many with the highest cost. */
const projectsShownMax = 50;

/** A project's days before today are stored as one sum, so its median is that of two. */
export async function readUsage(pool: Pool, days: number): Promise<DashboardUsage> {
  const all = await listDays(pool, days);
  const { rows: ranks } = await pool.query<{ isFresh: boolean }>(
    `select through = $2::date - 1 and completed is not null as "isFresh" from usage_ranks where days = $1 limit 1`,
    [days, all.at(-1)],
  );
  const most = (order: string) =>
    ranks[0]
      ? `(select project_id from usage_ranks where days = ${days} order by ${order} desc limit ${projectsShownMax})`
      : `(select project_id from usage_days where day = any ($1) and model = '' and project_id <> ''
          group by project_id order by sum(${order}) desc limit ${projectsShownMax})`;
  const ofProject = ranks[0]?.isFresh
    ? `select ${figures} from usage_ranks where days = ${days} and project_id = shown.project_id union all
       select ${figures} from usage_days where project_id = shown.project_id and day = $2 and model = ''`
    : `select ${figures} from usage_days where project_id = shown.project_id and day = any ($1::date[]) and model = ''`;
  const { rows } = await pool.query<Row>(
    `with shown as (
       ${most("jobs")} union ${most("cost_usd")} union
       (select project_id from usage_days where day = $2 and model = '' and project_id <> ''
        order by jobs desc limit ${projectsShownMax})
     ), of_all as (
       select day, model, ${figures} from usage_days where day = any ($1::date[]) and project_id = ''
     ), keyed as (
       select 'total' as kind, '' as key, ${figures} from of_all where model = ''
       union all
       select 'day', to_char(day, 'YYYY-MM-DD'), ${figures} from of_all where model = ''
       union all
       select 'model', model, ${figures} from of_all where model <> ''
       union all
       select 'project', shown.project_id, used.* from shown cross join lateral (${ofProject}) used
     ), weighed as (
       select *, ${weights("kind, key")} from keyed
     ), summed as (
       select kind, key, ${sumsOfWeighed} from weighed group by kind, key
     )
     select *, case kind when 'project' then (select name from projects where id = key) end as project from summed
     order by jobs desc, key`,
    [all, all.at(-1)],
  );
  const of = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind);
  const byDay = new Map(of("day").map((row) => [row.key, row]));
  return {
    days,
    total: figuresOf(of("total")[0]),
    byDay: all.map((day) => ({ day, ...figuresOf(byDay.get(day)) })),
    // A project may have been removed since.
    byProject: of("project").flatMap((row) =>
      row.project === null ? [] : [{ projectId: row.key, project: row.project, ...figuresOf(row) }],
    ),
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
    const projectIds = await storeDay(client, day);
    if (projectIds.length === 0) return;
    await lockRanks(client);
    const { rows } = await client.query<{ through: string }>(
      `select to_char(max(through), 'YYYY-MM-DD') as through from usage_ranks
       having max(through) >= $1::date and max(through) < $1::date + ${Math.max(...spans)}`,
      [day],
    );
    if (rows[0]) await rank(client, rows[0].through, projectIds);
  });
}

async function lockDay(client: Queryable, day: string): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtextextended('emend/usage/' || $1, 0))", [day]);
}

/** Writes only what differs. Returns the projects whose totals of the day changed. */
async function storeDay(client: Queryable, day: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `with counted as materialized (${countedOfDay}), stored as (
       insert into usage_days (day, project_id, model, ${figures}) select day, project_id, model, ${figures} from counted
       on conflict (day, project_id, model) do update set (${figures}) = row(${figuresIn("excluded")})
       where (${figuresIn("usage_days")}) is distinct from (${figuresIn("excluded")})
       returning project_id, model
     ), gone as (
       delete from usage_days old where day = $1
         and not exists (select from counted where counted.project_id = old.project_id and counted.model = old.model)
       returning project_id, model
     )
     select project_id as id from (select * from stored union all select * from gone) changed
     where project_id <> '' and model = ''`,
    [day],
  );
  return rows.map(({ id }) => id);
}

/** More in one query might take longer than a query may. */
const projectsRankedAtOnce = 1_000;

/** Once a day. Days that change later rank their projects again. */
async function rankProjects(pool: Pool, hasNewDay: boolean): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ yesterday: string; isFresh: boolean }>(
      `select to_char(${today} - 1, 'YYYY-MM-DD') as yesterday, exists (
         select from usage_ranks where through = ${today} - 1 and completed is not null) as "isFresh"`,
    );
    if (!rows[0] || (rows[0].isFresh && !hasNewDay)) return;
    await lockRanks(client);
    await client.query("delete from usage_ranks");
    const { rows: projects } = await client.query<{ id: string }>("select id from projects");
    await rank(
      client,
      rows[0].yesterday,
      projects.map(({ id }) => id),
    );
  });
}

/** Before the days are read: they may change meanwhile. */
async function lockRanks(client: Queryable): Promise<void> {
  await client.query("lock table usage_ranks in share row exclusive mode");
}

async function rank(client: Queryable, through: string, projectIds: readonly string[]): Promise<void> {
  for (let at = 0; at < projectIds.length; at += projectsRankedAtOnce) {
    const some = projectIds.slice(at, at + projectsRankedAtOnce);
    await client.query("delete from usage_ranks where project_id = any ($1)", [some]);
    for (const span of spans) {
      await client.query(
        `insert into usage_ranks (days, through, project_id, ${figures})
         select $1::int, $2::date, project_id, ${sumsOfWeighed}
         from (select *, ${weights("project_id")} from usage_days
           where project_id = any ($3) and day > $2::date + 1 - $1::int and day <= $2::date and model = '') weighed
         group by project_id`,
        [span, through, some],
      );
    }
  }
}

function figuresOf(row: Row | undefined): DashboardUsageFigures {
  return {
    jobs: row?.jobs ?? 0,
    completed: row?.completed ?? 0,
    failed: row?.failed ?? 0,
    pullRequests: row?.pull_requests ?? 0,
    merged: row?.merged ?? 0,
    inputTokens: row?.input_tokens ?? 0,
    outputTokens: row?.output_tokens ?? 0,
    costUsd: row?.cost_usd ?? 0,
    medianMs: row?.median_ms == null ? null : Math.round(row.median_ms),
  };
}
