-- Labels, reviewers and answers to comments go through the outbox too.
alter table tasks add column words text;
-- The service asked for a pause until then. No request hastens the task.
alter table tasks add column not_before timestamptz;

-- A second request before it starts has no effect.
create function ask_task(asked_kind text, asked_subject text, asked_words text default null) returns void language sql as $$
  insert into tasks (kind, subject, words, due_at) values (asked_kind, asked_subject, asked_words, clock_timestamp())
  on conflict (kind, subject) do update set asked = tasks.asked + 1, words = excluded.words,
    due_at = greatest(excluded.due_at, tasks.not_before);
  select pg_notify('emend_task_due', '');
$$;

create or replace function issue_job_changed() returns trigger language plpgsql as $$
begin
  update issue_requests set answer_due_at = clock_timestamp() where job_id = new.id;
  perform ask_task('answer_issue', id) from issue_requests where job_id = new.id;
  return null;
end $$;

create or replace function email_job_end() returns trigger language plpgsql as $$
declare wanted text;
begin
  for wanted in insert into job_emails (id, job_id, user_id)
    select 'eml_' || gen_random_uuid(), new.id, id from users where emails_jobs and 'user/' || lower(email) = lower(new.created_by)
    returning id
  loop
    perform ask_task('send_email', wanted);
  end loop;
  return null;
end $$;

-- A run stored its pull request, or one was found that nobody knew of.
create function ask_details() returns trigger language plpgsql as $$
begin
  perform ask_task('set_details', new.id) from projects where projects.id = new.project_id and forge <> 'local';
  return null;
end $$;
create trigger ask_details after update of pull_request on jobs for each row
  when (new.pull_request ->> 'state' = 'open' and (new.lease is not null or old.pull_request is null))
  execute function ask_details();

-- What a worker found out about a project for `project doctor`, until it is fetched.
create table diagnoses (
  id text primary key,
  answer jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
