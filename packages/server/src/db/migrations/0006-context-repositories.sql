-- Repositories that a project's jobs may read and never write: the code that the documentation is about.
create table context_repositories (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  -- What the agent calls it: `@<name>/<path>`.
  name text not null,
  forge text not null check (forge in ('local', 'github', 'gitlab', 'gitea')),
  -- Without credentials. On the local forge: the repository of another project.
  repository_url text not null,
  -- Null: the repository's default branch.
  base_ref text,
  -- Sealed with EMEND_SECRET; null: it can be read by anybody.
  credential bytea,
  created_at timestamptz not null default now(),
  unique (project_id, name)
);

-- What a job read of them: an array of name, repositoryUrl, forge, ref and commit. Pinned at the first look.
alter table jobs add column context jsonb not null default '[]';
-- What its change is founded on: an array of repository, path, line and commit, each looked up before it was stored.
alter table jobs add column sources jsonb not null default '[]';

-- A job that shows its diff and opens nothing.
alter table jobs add column preview boolean not null default false;
