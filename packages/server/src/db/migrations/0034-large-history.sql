-- A history of a million jobs must not slow the pages down: what they count is rolled up, what they list and search is indexed.
create index jobs_by_creation on jobs (created_at);
create index local_pull_requests_listed on local_pull_requests ((state = 'open') desc, created_at desc);
create index local_pull_requests_listed_of_project
  on local_pull_requests (project_id, (state = 'open') desc, created_at desc);

-- What people search for: the title and the beginning of the prompt. Where the database has no pg_trgm, or its user may not
-- install it, searches look at the newest jobs only: see dashboard/list-jobs.ts.
create function searched_text(title text, prompt text) returns text immutable language sql
  return coalesce(title, '') || E'\n' || left(prompt, 1000);
do $$
begin
  create extension if not exists pg_trgm;
  create index jobs_searched on jobs using gin (searched_text(title, prompt) gin_trgm_ops);
exception when others then
  raise notice 'no index for searches: %', sqlerrm;
end $$;

-- The usage of whole days, of jobs by the day of their creation (UTC). Today's is counted when it is asked for.
create table usage_days (
  day date not null,
  -- Empty: of all projects, of all models.
  project_id text not null,
  model text not null,
  jobs integer not null,
  completed integer not null,
  failed integer not null,
  pull_requests integer not null,
  merged integer not null,
  input_tokens double precision not null,
  output_tokens double precision not null,
  cost_usd double precision not null,
  -- The jobs whose duration is known, and their median.
  timed integer not null,
  median_ms double precision,
  primary key (day, project_id, model)
);
create table usage_rolled_days (
  day date primary key,
  -- One of its jobs changed since: to be rolled up again.
  changed_at timestamptz
);
create index usage_rolled_days_changed on usage_rolled_days (day) where changed_at is not null;
