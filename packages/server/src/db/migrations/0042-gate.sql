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
