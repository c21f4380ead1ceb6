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

-- Webhook messages without a job: a budget warning, a test. A second secret is valid beside the first until a given time.
alter table deliveries alter column job_id drop not null;
alter table webhooks add column old_secret bytea;
alter table webhooks add column old_secret_until timestamptz;
