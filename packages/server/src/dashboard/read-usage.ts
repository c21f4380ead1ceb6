import type { DashboardUsage, DashboardUsageFigures } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";

/**
 * Archived jobs count as what they were: the code of a failure outlives its status. How long a job took that was asked for
 * more later, its end no longer says.
 */
const figures = `count(*)::int as jobs,
  count(*) filter (where ended_at is not null and failure_code is null)::int as completed,
  count(*) filter (where failure_code is not null)::int as failed,
  count(*) filter (where pull_request is not null)::int as "pullRequests",
  count(*) filter (where pull_request ->> 'state' = 'merged')::int as merged,
  coalesce(sum((usage ->> 'inputTokens')::float8), 0)::float8 as "inputTokens",
  coalesce(sum((usage ->> 'outputTokens')::float8), 0)::float8 as "outputTokens",
  coalesce(sum((usage ->> 'costUsd')::float8), 0)::float8 as "costUsd",
  percentile_cont(0.5) within group (order by extract(epoch from ended_at - jobs.created_at) * 1000)
    filter (where ended_at is not null and not exists (select from job_messages where job_id = jobs.id)) as "medianMs"`;
const day = "to_char(jobs.created_at at time zone 'UTC', 'YYYY-MM-DD')";
const recent =
  "(date_trunc('day', clock_timestamp() at time zone 'UTC') - make_interval(days => $1 - 1)) at time zone 'UTC'";

interface Row extends DashboardUsageFigures {
  day: string | null;
  projectId: string | null;
  project: string | null;
  model: string | null;
  sets: number;
}

export async function readUsage(db: Queryable, days: number): Promise<DashboardUsage> {
  const { rows } = await db.query<Row>(
    `select day, project_id as "projectId", project, model, grouping(day, project_id, model) as sets, ${figures}
     from (select jobs.*, ${day} as day, projects.name as project
           from jobs join projects on projects.id = project_id where jobs.created_at >= ${recent}) jobs
     group by grouping sets ((), (day), (project_id, project), (model))`,
    [days],
  );
  const of = (sets: number) => rows.filter((row) => row.sets === sets).sort((a, b) => b.jobs - a.jobs);
  const byDay = new Map(of(0b011).map((row) => [row.day, row]));
  return {
    days,
    total: figuresOf(of(0b111)[0]),
    byDay: (await listDays(db, days)).map((each) => ({ day: each, ...figuresOf(byDay.get(each)) })),
    byProject: of(0b101).map((row) => ({
      projectId: row.projectId ?? "",
      project: row.project ?? "",
      ...figuresOf(row),
    })),
    byModel: of(0b110).map((row) => ({ model: row.model ?? "", ...figuresOf(row) })),
  };
}

export interface UsageLine extends DashboardUsageFigures {
  day: string;
  projectId: string;
  project: string;
  model: string;
}

/** The same by day, project and model at once. */
export async function readUsageLines(db: Queryable, days: number): Promise<readonly UsageLine[]> {
  const { rows } = await db.query<UsageLine>(
    `select ${day} as day, project_id as "projectId", projects.name as project, model, ${figures}
     from jobs join projects on projects.id = project_id where jobs.created_at >= ${recent}
     group by 1, 2, 3, 4 order by 1, 3, 4`,
    [days],
  );
  return rows;
}

async function listDays(db: Queryable, days: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ day: string }>(
    `select to_char(date_trunc('day', clock_timestamp() at time zone 'UTC') - make_interval(days => n), 'YYYY-MM-DD')
       as day from generate_series($1 - 1, 0, -1) n`,
    [days],
  );
  return rows.map((row) => row.day);
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
