-- A pull request was merged, closed or opened again on its forge: its job says so, and whoever watches it hears.
create or replace function settle_pull_request(p_project text, p_number integer, p_state text) returns void language sql
begin atomic
  with changed as (
    update jobs set pull_request = jsonb_set(pull_request, '{state}', to_jsonb(p_state)),
      event_seq = event_seq + 1, updated_at = clock_timestamp()
    where project_id = p_project and pull_request ->> 'number' = p_number::text
      and pull_request ->> 'state' is distinct from p_state
    returning id, event_seq, pull_request
  ), told as (
    insert into job_events (job_id, seq, kind, data) select id, event_seq, 'pull_request', pull_request from changed
  )
  select pg_notify('emend_job_changed', id) from changed;
end;

create or replace function settle_local_pull_request() returns trigger language plpgsql as $$
begin
  perform settle_pull_request(new.project_id, new.number, new.state);
  return null;
end $$;

create or replace trigger local_pull_request_settled after update of state on local_pull_requests for each row
  when (new.state is distinct from old.state) execute function settle_local_pull_request();

create or replace function issue_job_changed() returns trigger language plpgsql as $$
begin
  update issue_requests set answer_due_at = clock_timestamp() where job_id = new.id;
  perform ask_task('answer_issue', id) from issue_requests where job_id = new.id;
  return null;
end $$;

create or replace trigger issue_job_changed after update of pull_request, status on jobs
  for each row when ((old.pull_request, old.status) is distinct from (new.pull_request, new.status))
  execute function issue_job_changed();

-- A run stored its pull request, or one was found that nobody knew of.
create or replace function ask_details() returns trigger language plpgsql as $$
begin
  perform ask_task('set_details', new.id) from projects where projects.id = new.project_id and forge <> 'local';
  perform ask_task('ask_authors', new.id) from projects
  where projects.id = new.project_id and settings #>> '{forge,codeAuthors}' = 'true' and not new.authors_asked;
  return null;
end $$;

create or replace trigger ask_details after update of pull_request on jobs for each row
  when (new.pull_request ->> 'state' = 'open' and (new.lease is not null or old.pull_request is null))
  execute function ask_details();

-- A round that was asked for on its pull request has ended. Its answer is due, whatever starts next.
create or replace function ask_message_answer() returns trigger language plpgsql as $$
declare ended integer;
begin
  update job_messages set outcome = jsonb_build_object('commit', new.commit_id,
    'failure', case when new.failure_code is not null then new.failure_message end,
    'reply', left(coalesce(new.reply, new.summary), 1000))
  where job_id = new.id and number = (select max(number) from job_messages where job_id = new.id)
    and (created_by like 'comment/%' or created_by like 'ci/%')
  returning number into ended;
  if ended is not null then perform ask_task('answer_message', new.id || '/' || ended); end if;
  return null;
end $$;

create or replace trigger ask_message_answer after update of status on jobs for each row
  when (old.status = 'active' and new.status <> 'active' and new.pull_request is not null)
  execute function ask_message_answer();

-- People merged or closed it, wherever: a worker reads what they changed and said. One that was opened again is read again.
create or replace function ask_lessons() returns trigger language plpgsql as $$
begin
  new.lessons_read := false;
  perform ask_task('learn_from_reviews', new.project_id);
  return new;
end $$;

create or replace trigger ask_lessons before update of pull_request on jobs for each row
  when (new.pull_request ->> 'state' in ('merged', 'closed')
    and new.pull_request ->> 'state' is distinct from old.pull_request ->> 'state')
  execute function ask_lessons();
