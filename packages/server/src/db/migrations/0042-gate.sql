-- Emend's statuses on pull requests: one per head, updated in place.
create table gate_statuses (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  -- The context repository of the pull request. Null: the docs repository.
  context_id text references context_repositories (id) on delete cascade,
  -- The forge and the address, so that two projects cannot use one name on the same commit.
  repository text not null,
  head text not null,
  name text not null,
  number integer not null,
  pull jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'passed', 'neutral', 'failed')),
  words text not null,
  findings jsonb not null default '[]',
  -- The input of the verdict. Null: not checked yet.
  judged_from text,
  judged_at timestamptz,
  -- The status that the forge last accepted. Null: none, or it must be sent again.
  sent text,
  -- The forge's error message, if it refused the status.
  refusal text,
  -- The job that opens the docs pull request.
  job_id text,
  comments_heard text[] not null default '{}',
  -- The lease: once another node takes it, a slow previous holder can write nothing.
  lease uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (repository, head, name)
);
create index gate_statuses_of_project on gate_statuses (project_id, updated_at desc);
create index gate_statuses_of_context on gate_statuses (context_id) where context_id is not null;
create index gate_statuses_of_job on gate_statuses (job_id) where job_id is not null;

-- When a repository's pull requests were last checked, and the error.
create table gate_looks (
  project_id text not null references projects (id) on delete cascade,
  -- Empty: the docs repository.
  context_id text not null default '',
  looked_at timestamptz not null default clock_timestamp(),
  not_before timestamptz,
  problem text,
  primary key (project_id, context_id)
);

-- The local forge's commit statuses.
create table local_statuses (
  project_id text not null references projects (id) on delete cascade,
  commit_id text not null,
  name text not null,
  state text not null check (state in ('pending', 'passed', 'neutral', 'failed')),
  words text not null,
  url text,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_id, commit_id, name)
);

-- Makes a check of a project's pull requests due. Idempotent.
create function ask_gate(project text) returns void language sql as $$
  insert into tasks (kind, subject, due_at) values ('look_at_gate', project, clock_timestamp())
  on conflict (kind, subject) do update set asked = tasks.asked + 1, due_at = excluded.due_at;
  select pg_notify('emend_task_due', '');
$$;

-- A change or comment on a pull request of the local forge makes a check due for the projects that watch it.
create function local_pull_changed() returns trigger language plpgsql as $$
begin
  perform ask_gate(id) from projects where id = new.project_id
    or id in (select project_id from context_repositories
              where forge = 'local' and repository_url like '%/git/' || new.project_id || '.git');
  return null;
end $$;
create trigger local_pull_opened after insert on local_pull_requests
  for each row execute function local_pull_changed();
create trigger local_pull_moved after update of head_commit, base_commit, state on local_pull_requests
  for each row when ((old.head_commit, old.base_commit, old.state) is distinct from (new.head_commit, new.base_commit, new.state))
  execute function local_pull_changed();
create trigger local_pull_commented after insert on local_pull_request_comments
  for each row execute function local_pull_changed();

-- A docs pull request that a gate requested was opened, merged or closed.
create function gate_job_changed() returns trigger language plpgsql as $$
begin
  perform ask_gate(project_id) from gate_statuses where job_id = new.id;
  return null;
end $$;
create trigger gate_job_changed after update of pull_request, status on jobs
  for each row when ((old.pull_request, old.status) is distinct from (new.pull_request, new.status))
  execute function gate_job_changed();
