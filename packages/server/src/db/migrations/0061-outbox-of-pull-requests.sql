-- Labels, reviewers and answers to comments go through the outbox too.
alter table tasks add column words text;
-- The service asked for a pause until then. No request hastens the task.
alter table tasks add column not_before timestamptz;

-- What a worker found out about a project for `project doctor`, until it is fetched.
create table diagnoses (
  id text primary key,
  answer jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
