-- Steps of free models cost nothing and write nothing here.
create or replace function note_cost() returns trigger language plpgsql as $$
declare
  spent double precision :=
    coalesce((new.usage ->> 'costUsd')::float8, 0) - coalesce((old.usage ->> 'costUsd')::float8, 0);
begin
  if spent <> 0 then
    insert into monthly_usage as used (project_id, month, cost_usd)
      values (new.project_id, date_trunc('month', clock_timestamp() at time zone 'UTC')::date, spent)
      on conflict (project_id, month) do update set cost_usd = used.cost_usd + excluded.cost_usd;
  end if;
  return null;
end $$;

create or replace trigger cost_noted after update of usage on jobs for each row execute function note_cost();

-- The budgets that apply to a project, with their usage so far: its own, and the installation's.
create or replace function monthly_budgets(p_project text, p_at timestamptz)
returns table (scope text, jobs integer, cost_usd double precision, jobs_max integer, cost_usd_max double precision)
stable language sql as $$
  select 'project', coalesce(used.jobs, 0), coalesce(used.cost_usd, 0),
    (settings #>> '{monthlyBudget,jobsMax}')::int, (settings #>> '{monthlyBudget,costUsdMax}')::float8
  from projects left join monthly_usage used
    on used.project_id = projects.id and month = date_trunc('month', p_at at time zone 'UTC')::date
  where projects.id = p_project
    and coalesce(settings #>> '{monthlyBudget,jobsMax}', settings #>> '{monthlyBudget,costUsdMax}') is not null
  union all
  select 'installation', sum(coalesce(used.jobs, 0))::int, sum(coalesce(used.cost_usd, 0)),
    (value ->> 'jobsMax')::int, (value ->> 'costUsdMax')::float8
  from settings left join monthly_usage used on month = date_trunc('month', p_at at time zone 'UTC')::date
  where name = 'monthlyBudget' and coalesce(value ->> 'jobsMax', value ->> 'costUsdMax') is not null
  group by value
$$;

-- Null if `p_jobs` more jobs fit, else the exhausted budget. Counted under the locks: if two requests race for the last job,
-- one gets it. To prevent deadlocks, the project's lock is always taken before the installation's.
create or replace function refused_by_budget(p_project text, p_jobs integer) returns jsonb language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_project, 0));
  if exists (select from settings where name = 'monthlyBudget') then
    perform pg_advisory_xact_lock(hashtextextended('emend/monthly-budget', 0));
  end if;
  return (
    select to_jsonb(budget) || jsonb_build_object('at', clock_timestamp())
    from monthly_budgets(p_project, clock_timestamp()) budget
    where jobs + p_jobs > jobs_max or cost_usd >= cost_usd_max
    order by scope desc limit 1);
end $$;

-- They count for the monthly budgets, as jobs do.
create or replace function note_drift_cost() returns trigger language plpgsql as $$
begin
  insert into monthly_usage as used (project_id, month, cost_usd)
    values (new.project_id, date_trunc('month', clock_timestamp() at time zone 'UTC')::date, new.cost_usd)
    on conflict (project_id, month) do update set cost_usd = used.cost_usd + excluded.cost_usd;
  return null;
end $$;

create or replace trigger drift_cost_noted after insert on drift_answers for each row when (new.cost_usd <> 0)
  execute function note_drift_cost();
