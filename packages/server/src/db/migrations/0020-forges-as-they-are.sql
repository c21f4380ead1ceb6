-- A GitHub App that was made for a project which is not added yet: its key is shown once, so it is kept before anything
-- that can fail. Removed once the project has it.
create table github_apps (
  repository_url text primary key,
  project_id text not null,
  name text not null,
  install_url text not null,
  credential bytea not null,
  created_at timestamptz not null default now()
);
