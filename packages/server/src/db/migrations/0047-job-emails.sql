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

create function email_job_end() returns trigger language plpgsql as $$
begin
  with wanted as (
    insert into job_emails (id, job_id, user_id)
      select 'eml_' || gen_random_uuid(), new.id, id from users where emails_jobs and 'user/' || lower(email) = lower(new.created_by)
    returning id
  )
  insert into tasks (kind, subject, due_at) select 'send_email', id, clock_timestamp() from wanted
  on conflict (kind, subject) do update set asked = tasks.asked + 1, due_at = excluded.due_at;
  if found then
    perform pg_notify('emend_task_due', '');
  end if;
  return null;
end $$;
create trigger email_job_end after update of status on jobs for each row
  when (old.status = 'active' and new.status in ('completed', 'failed')) execute function email_job_end();
