-- Whether a person gets an email when a job of theirs ends.
alter table users add column emails_jobs boolean not null default false;

-- Emails to send, written with the job's end. A row is deleted when its email is sent.
create table job_emails (
  id text primary key,
  job_id text not null references jobs (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  tries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp()
);
create index job_emails_due on job_emails (due_at);
create index job_emails_of_job on job_emails (job_id);
create index job_emails_of_user on job_emails (user_id);
