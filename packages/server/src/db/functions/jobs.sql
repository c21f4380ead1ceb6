-- Admits one use, or says when the next fits. Only one transaction at a time decides about a project (two whose hashes
-- meet wait for each other, no more). The time is read after the lock, so that no use is dated before one that was
-- admitted earlier; tests of the window give p_now.
create or replace function admit_use(
  p_project text, p_kind text, p_limit integer, p_window interval, p_now timestamptz,
  out is_admitted boolean, out used integer, out at timestamptz, out frees_at timestamptz
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_project, 0));
  at := coalesce(p_now, clock_timestamp());
  select count(*), min(used_at) + p_window into used, frees_at
    from quota_uses where project_id = p_project and kind = p_kind and used_at > at - p_window;
  is_admitted := used < p_limit;
  if is_admitted then
    insert into quota_uses (project_id, kind, used_at) values (p_project, p_kind, at);
    used := used + 1;
  elsif used > p_limit then
    -- The limit was lowered: more than one use must leave the window first.
    select used_at + p_window into frees_at
      from quota_uses where project_id = p_project and kind = p_kind and used_at > at - p_window
      order by used_at offset used - p_limit limit 1;
  end if;
  frees_at := coalesce(frees_at, at + p_window);
end $$;

-- Creates a job in one round trip: replay or conflict, budget, quota, row, event and idempotency key, all or nothing. A
-- request that the budget refuses counts nowhere. The answer's text comes in two halves, around the time of creation,
-- which is known only here.
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

-- As create_job, for a preview, a plan or its own wish about unknown constructs: the mark is there before anybody can claim
-- the job.
create or replace function create_marked_job(
  p_id text, p_project text, p_prompt text, p_model text, p_repository_url text, p_branch text, p_created_by text,
  p_base_ref text, p_draft boolean, p_max_cost_usd double precision,
  p_quota integer, p_quota_window interval, p_key text, p_body_hash bytea, p_head text, p_tail text,
  p_preview boolean, p_plan boolean, p_unknown text,
  out outcome text, out response text, out job_id text, out used integer, out at timestamptz, out frees_at timestamptz
) language plpgsql as $$
begin
  select made.outcome, made.response, made.job_id, made.used, made.at, made.frees_at
    into outcome, response, job_id, used, at, frees_at
    from create_job(p_id, p_project, p_prompt, p_model, p_repository_url, p_branch, p_created_by, p_base_ref, p_draft,
      p_max_cost_usd, p_quota, p_quota_window, p_key, p_body_hash, p_head, p_tail) made;
  if outcome = 'created' then
    update jobs set preview = p_preview, plan = p_plan, unknown = p_unknown where id = p_id;
  end if;
end $$;

create or replace function forget_said() returns trigger language plpgsql as $$
begin
  if new.messages = '[]' then new.said := null; end if;
  return new;
end $$;

create or replace trigger steps_forget_said before update of messages on steps for each row execute function forget_said();

create or replace function drop_working_diff() returns trigger language plpgsql as $$
begin
  new.working_diff := null;
  return new;
end $$;

create or replace trigger jobs_drop_working_diff before update of status on jobs
  for each row when (new.status <> 'active' and new.working_diff is not null) execute function drop_working_diff();
