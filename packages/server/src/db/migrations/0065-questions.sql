-- What an agent asked the person who wanted the change. The job waits without a lease until somebody says something, or until
-- `answer_until`.
create table job_questions (
  id bigint generated always as identity primary key,
  job_id text not null references jobs (id) on delete cascade,
  -- The step that asked.
  step integer not null,
  question text not null,
  options text[] not null default '{}',
  asked_at timestamptz not null default clock_timestamp(),
  answer_until timestamptz not null,
  unique (job_id, step)
);
-- An email about a question. Null: about the job's end.
alter table job_emails add column question_id bigint references job_questions (id) on delete cascade;
create index job_emails_of_question on job_emails (question_id);
-- functions: da3953278ffc4170
