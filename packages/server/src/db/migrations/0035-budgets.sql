-- Monthly budgets of projects (their setting `monthlyBudget`) and of the installation (the setting of the same name).
-- A project's usage per calendar month (UTC), counted at the time of use. Rows outlive their project: the money is spent.
create table monthly_usage (
  project_id text not null,
  month date not null,
  jobs integer not null default 0,
  cost_usd double precision not null default 0,
  primary key (project_id, month)
);
create index monthly_usage_by_month on monthly_usage (month);
insert into monthly_usage
  select project_id, date_trunc('month', now() at time zone 'UTC')::date, count(*)::int,
    coalesce(sum((usage ->> 'costUsd')::float8), 0)
  from jobs where created_at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'
  group by project_id;

-- The warnings that were sent. The scope is a project's id, or empty for the installation.
create table budget_warnings (
  scope text not null,
  month date not null,
  percent integer not null,
  told_at timestamptz not null default clock_timestamp(),
  primary key (scope, month, percent)
);

-- Steps of free models cost nothing and write nothing here.
create function note_cost() returns trigger language plpgsql as $$
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
create trigger cost_noted after update of usage on jobs for each row execute function note_cost();

-- The budgets that apply to a project, with their usage so far: its own, and the installation's.
create function monthly_budgets(p_project text, p_at timestamptz)
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
create function refused_by_budget(p_project text, p_jobs integer) returns jsonb language plpgsql as $$
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

-- As before, but checks the budget after the replay and before the quota: a refused request counts nowhere.
create or replace function create_job(
  p_id text, p_project text, p_prompt text, p_model text, p_repository_url text, p_branch text, p_created_by text,
  p_base_ref text, p_draft boolean, p_max_cost_usd double precision,
  p_quota integer, p_quota_window interval, p_key text, p_body_hash bytea, p_head text, p_tail text,
  out outcome text, out response text, out job_id text, out used integer, out at timestamptz, out frees_at timestamptz
) language plpgsql as $$
declare
  first idempotency_keys;
  quota record;
begin
  if p_key is not null then
    -- The same lock as the quota's: of requests that race with one key, the first is stored before the next looks.
    perform pg_advisory_xact_lock(hashtextextended(p_project, 0));
    select * into first from idempotency_keys
      where project_id = p_project and key = p_key and created_at > clock_timestamp() - interval '24 hours';
    if found then
      at := clock_timestamp();
      select count(*), coalesce(min(used_at), at) + p_quota_window into used, frees_at
        from quota_uses where project_id = p_project and kind = 'create' and used_at > at - p_quota_window;
      outcome := case when first.body_hash = p_body_hash then 'replayed' else 'conflict' end;
      job_id := first.job_id;
      response := first.response;
      return;
    end if;
  end if;
  response := refused_by_budget(p_project, 1)::text;
  if response is not null then
    outcome := 'over_budget';
    return;
  end if;
  quota := admit_use(p_project, 'create', p_quota, p_quota_window, null);
  used := quota.used;
  at := quota.at;
  frees_at := quota.frees_at;
  if not quota.is_admitted then
    outcome := 'limited';
    return;
  end if;
  outcome := 'created';
  job_id := p_id;
  response := p_head || wire_time(at) || p_tail;
  insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, created_at, updated_at,
                    run_after, base_ref, draft, max_cost_usd, event_seq)
    values (p_id, p_project, p_prompt, p_model, p_repository_url, p_branch, p_branch, p_created_by, at, at,
            at, p_base_ref, p_draft, p_max_cost_usd, 1);
  insert into job_events (job_id, seq, kind, data, created_at) values (p_id, 1, 'job.created', '{}', at);
  insert into monthly_usage as so_far (project_id, month, jobs)
    values (p_project, date_trunc('month', quota.at at time zone 'UTC')::date, 1)
    on conflict (project_id, month) do update set jobs = so_far.jobs + 1;
  if p_key is not null then
    insert into idempotency_keys (project_id, key, body_hash, job_id, response, created_at)
      values (p_project, p_key, p_body_hash, p_id, response, at)
      on conflict (project_id, key) do update set body_hash = excluded.body_hash, job_id = excluded.job_id,
        response = excluded.response, created_at = excluded.created_at;
  end if;
end $$;

-- Webhook messages without a job: a budget warning, a test. A second secret is valid beside the first until a given time.
alter table deliveries alter column job_id drop not null;
alter table webhooks add column old_secret bytea;
alter table webhooks add column old_secret_until timestamptz;

create function audit_webhook_rotation() returns trigger language plpgsql as $$
begin
  perform audit('webhook.rotated', new.id, jsonb_build_object('project', new.project_id, 'host', substring(new.url from '//([^/?#]*)')));
  return null;
end $$;
create trigger webhook_rotation_audited after update of old_secret_until on webhooks
  for each row execute function audit_webhook_rotation();
