-- Text on a page, and the lines of code that it relies on. Claims are checked again after every new commit of either.
create table claims (
  id text primary key default 'clm_' || replace(gen_random_uuid()::text, '-', ''),
  project_id text not null references projects (id) on delete cascade,
  page text not null,
  page_line integer not null,
  page_line_end integer not null,
  -- The text of the claim. Null: not read yet.
  page_text text,
  page_blob text,
  -- Null: the project's own repository.
  repository_id text references context_repositories (id) on delete cascade,
  path text not null,
  line integer not null,
  line_end integer not null,
  -- The cited lines, their hash, the symbol around them, and the last commit at which they were seen unchanged.
  text text,
  hash bytea,
  symbol text,
  commit_id text,
  -- The file's blob id at the last check: equal ids mean equal bytes.
  blob text,
  state text not null default 'new' check (state in ('new', 'same', 'changed', 'gone')),
  -- If changed: path, line, lineEnd, text, symbol and blob of the current lines.
  found jsonb,
  -- The commit that changed or removed the lines: id, author, date, message, and pullRequest if its message names one.
  cause jsonb,
  problem text,
  changed_at timestamptz,
  job_id text references jobs (id) on delete set null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index claims_of_project on claims (project_id, page, page_line, id);
create index claims_of_job on claims (job_id) where job_id is not null;
create index claims_of_repository on claims (repository_id) where repository_id is not null;

-- The commits at which each project's claims were last checked, by mirror.
create table claim_looks (
  project_id text primary key references projects (id) on delete cascade,
  due_at timestamptz not null default clock_timestamp(),
  commits jsonb not null default '{}',
  problem text
);

-- Whether a merged job's citations were turned into claims. Older jobs did not store the cited text.
alter table jobs add column claims_kept boolean not null default false;
create index jobs_claims_due on jobs (project_id, id)
  where not claims_kept and sources <> '[]' and pull_request ->> 'state' = 'merged';
