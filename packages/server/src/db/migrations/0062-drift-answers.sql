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
