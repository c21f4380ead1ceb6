-- The usage page reads stored totals only, those of today included, which it has counted anew from time to time.
create table usage_today (
  -- Only one row.
  id boolean primary key default true check (id),
  day date not null,
  counted_at timestamptz not null,
  took_ms double precision not null
);
-- Which projects had the most jobs and the highest cost in the days before today, for the spans that the page offers. To add
-- up the days of thousands of projects takes long, so the page does it only for those that it shows.
create table usage_ranks (
  -- The span with today: 7 stands for the six days before today.
  days integer not null,
  project_id text not null,
  jobs integer not null,
  cost_usd double precision not null,
  -- The last day that is included.
  through date not null,
  primary key (days, project_id)
);
create index usage_ranks_by_jobs on usage_ranks (days, jobs desc);
create index usage_ranks_by_cost on usage_ranks (days, cost_usd desc);
create index usage_days_of_project on usage_days (project_id, day) where model = '';
create index usage_days_by_jobs on usage_days (day, jobs desc) where model = '' and project_id <> '';
