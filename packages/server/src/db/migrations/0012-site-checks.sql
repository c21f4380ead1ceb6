-- What the checks found on a project's base branch, over time. A look that failed says why instead.
create table site_checks (
  project_id text not null references projects (id) on delete cascade,
  checked_at timestamptz not null default clock_timestamp(),
  commit_id text,
  branch text,
  framework text,
  pages integer,
  -- By check: how many, of which severity, and how many of them have a certain fix.
  counts jsonb,
  -- A bounded part of them, kept of the newest look alone.
  findings jsonb,
  problem text,
  primary key (project_id, checked_at),
  constraint either_found_or_failed check ((counts is null) = (problem is not null))
);
