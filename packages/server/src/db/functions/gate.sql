-- Makes a check of a project's pull requests due. Idempotent.
create or replace function ask_gate(project text) returns void language sql as $$
  insert into tasks (kind, subject, due_at) values ('look_at_gate', project, clock_timestamp())
  on conflict (kind, subject) do update set asked = tasks.asked + 1, due_at = excluded.due_at;
  select pg_notify('emend_task_due', '');
$$;

-- A change or comment on a pull request of the local forge makes a check due for the projects that watch it.
create or replace function local_pull_changed() returns trigger language plpgsql as $$
begin
  perform ask_gate(id) from projects where id = new.project_id
    or id in (select project_id from context_repositories
              where forge = 'local' and repository_url like '%/git/' || new.project_id || '.git');
  return null;
end $$;

create or replace trigger local_pull_opened after insert on local_pull_requests
  for each row execute function local_pull_changed();

create or replace trigger local_pull_moved after update of head_commit, base_commit, state on local_pull_requests
  for each row when ((old.head_commit, old.base_commit, old.state) is distinct from (new.head_commit, new.base_commit, new.state))
  execute function local_pull_changed();

create or replace trigger local_pull_commented after insert on local_pull_request_comments
  for each row execute function local_pull_changed();

-- A docs pull request that a gate requested was opened, merged or closed.
create or replace function gate_job_changed() returns trigger language plpgsql as $$
begin
  perform ask_gate(project_id) from gate_statuses where job_id = new.id;
  return null;
end $$;

create or replace trigger gate_job_changed after update of pull_request, status on jobs
  for each row when ((old.pull_request, old.status) is distinct from (new.pull_request, new.status))
  execute function gate_job_changed();

-- Findings that a project's settings silence show their effect at once, on the health page and on pull requests.
create or replace function silencers_changed() returns trigger language plpgsql as $$
begin
  insert into tasks (kind, subject, due_at) values ('check_site', new.id, clock_timestamp())
  on conflict (kind, subject) do update set asked = tasks.asked + 1, due_at = excluded.due_at;
  -- Also wakes the workers.
  perform ask_gate(new.id);
  return null;
end $$;

create or replace trigger silencers_changed after update of settings on projects
  for each row when (old.settings -> 'checks' is distinct from new.settings -> 'checks')
  execute function silencers_changed();
