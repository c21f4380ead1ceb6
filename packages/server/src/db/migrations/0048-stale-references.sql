-- Names on pages that a source no longer has. Found when the source changes; kept until the page or the source changes.
create table stale_references (
  project_id text not null references projects (id) on delete cascade,
  -- Null: code in the project's own repository.
  repository_id text references context_repositories (id) on delete cascade,
  page text not null,
  -- The reference as the page writes it, and the part of it that is missing.
  kind text not null,
  text text not null,
  gone text not null,
  renamed_to text,
  -- Some of the files that had it.
  paths jsonb not null,
  -- The commit that removed it: id, author, date, message, and pullRequest if its message names one. Null: unknown.
  cause jsonb,
  found_at timestamptz not null default clock_timestamp()
);
create unique index stale_references_once
  on stale_references (project_id, coalesce(repository_id, ''), page, kind, md5(text));
create index stale_references_of_repository on stale_references (repository_id) where repository_id is not null;

-- The commit of each source that the pages were last compared with. The project's own repository has the project's id.
create table reference_looks (
  project_id text not null references projects (id) on delete cascade,
  source_id text not null,
  commit_id text not null,
  primary key (project_id, source_id)
);

-- The sources that a check of a site compared the pages with: repository, commit, problem.
alter table site_checks add column sources jsonb not null default '[]';
