-- What a model said about a change of code and the docs, by what was asked: the same question costs nothing twice.
create table drift_answers (
  project_id text not null references projects (id) on delete cascade,
  -- The hash of the question and the model.
  key text not null,
  -- The pull request or push that paid for it.
  subject text not null,
  model text not null,
  answer jsonb not null,
  cost_usd double precision not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, key)
);
create index drift_answers_of_subject on drift_answers (project_id, subject);
create index drift_answers_by_age on drift_answers (created_at);

-- They count for the monthly budgets, as jobs do.
create function note_drift_cost() returns trigger language plpgsql as $$
begin
  insert into monthly_usage as used (project_id, month, cost_usd)
    values (new.project_id, date_trunc('month', clock_timestamp() at time zone 'UTC')::date, new.cost_usd)
    on conflict (project_id, month) do update set cost_usd = used.cost_usd + excluded.cost_usd;
  return null;
end $$;
create trigger drift_cost_noted after insert on drift_answers for each row when (new.cost_usd <> 0)
  execute function note_drift_cost();
