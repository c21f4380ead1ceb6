-- Times are the database's own; ids are text, opaque and sortable by creation.

create table projects (
  id text primary key,
  name text not null,
  forge text not null check (forge in ('local', 'github', 'gitlab', 'gitea')),
  -- What clients see, without credentials.
  repository_url text not null,
  -- Null: the repository's default branch.
  base_ref text,
  docs_dir text not null default '',
  -- Everything a maintainer may set; parsed by accounts/project-settings.ts.
  settings jsonb not null default '{}',
  -- Forge token, sealed with EMEND_SECRET.
  credential bytea,
  created_at timestamptz not null default now()
);

create table admin_keys (
  id text primary key,
  secret_hash bytea not null,
  -- The first characters, to recognise a key in a list.
  hint text not null,
  name text not null,
  project_ids text[] not null,
  scope text not null check (scope in ('read', 'write')),
  expires_at timestamptz,
  -- Addresses or CIDR ranges; null admits every address.
  allow_list text[],
  created_by text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);

-- The jobs table is the run queue: no second state to disagree with it.
create table jobs (
  id text primary key,
  project_id text not null references projects (id),
  status text not null default 'active' check (status in ('active', 'completed', 'archived', 'failed')),
  phase text not null default 'queued' check (phase in ('queued', 'preparing', 'working', 'checking', 'publishing')),
  prompt text not null,
  -- The model that answered last; before the first step, the one chosen.
  model text not null,
  -- The one chosen, from the first step on: later runs ask it again, by whatever name it answers.
  chosen_model text,
  -- What the wire shows as source; `ref` becomes null when a job ends with nothing pushed.
  repository_url text not null,
  branch text not null,
  ref text,
  pr_link text,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  archived_at timestamptz,
  -- What the request asked for beyond the project's settings.
  base_ref text,
  draft boolean,
  max_cost_usd double precision,
  -- The lease: who may write, and until when.
  lease uuid,
  lease_until timestamptz,
  run_after timestamptz not null default clock_timestamp(),
  runs integer not null default 0,
  crashes integer not null default 0,
  -- Tries since the last progress that ended in a far end being away.
  retries integer not null default 0,
  stop_asked text check (stop_asked in ('archive', 'cancel')),
  event_seq integer not null default 0,
  -- What the run found out, each stored before anything follows from it.
  base_commit text,
  -- The branch that base_commit was read from: what the pull request asks to merge into.
  base_branch text,
  title text,
  summary text,
  findings jsonb,
  usage jsonb,
  -- Deflated.
  diff bytea,
  -- The agent stopped at this limit; what it had done was kept.
  limit_reached text check (limit_reached in ('budget_exceeded', 'timeout')),
  -- Set together, with phase 'publishing', before the push: from there on a job is carried through.
  tree_id text,
  commit_id text,
  pushed boolean not null default false,
  pull_request jsonb,
  failure_code text,
  failure_message text,
  -- Step messages and overlay are dropped some days after the end.
  contents_dropped_at timestamptz,
  constraint final_jobs_hold_no_lease check (status = 'active' or lease is null)
);
create index jobs_by_project on jobs (project_id, id desc);
create index jobs_due on jobs (project_id, run_after) where status = 'active' and lease is null;
create index jobs_leased on jobs (project_id, lease_until) where lease is not null;
create index jobs_ended on jobs (ended_at) where ended_at is not null;
create index jobs_with_contents on jobs (ended_at) where ended_at is not null and contents_dropped_at is null;

-- The sliding log of accepted uses: exact where a window or a bucket is not.
create table quota_uses (
  project_id text not null references projects (id),
  kind text not null check (kind in ('create', 'message')),
  used_at timestamptz not null
);
create index quota_uses_in_window on quota_uses (project_id, kind, used_at);

create table idempotency_keys (
  project_id text not null references projects (id),
  key text not null,
  body_hash bytea not null,
  job_id text not null,
  -- The first answer, replayed byte for byte.
  response text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- A step holds only the messages that it added.
create table steps (
  job_id text not null references jobs (id) on delete cascade,
  number integer not null,
  messages jsonb not null,
  usage jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  primary key (job_id, number)
);

create table overlay (
  job_id text not null references jobs (id) on delete cascade,
  path text not null,
  mode text not null,
  -- Deflated; null where the file is deleted.
  content bytea,
  deleted boolean not null default false,
  primary key (job_id, path),
  check (deleted = (content is null))
);

create table job_events (
  job_id text not null references jobs (id) on delete cascade,
  seq integer not null,
  kind text not null,
  data jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (job_id, seq)
);

-- The local forge's pull requests.
create table local_pull_requests (
  project_id text not null references projects (id),
  number integer not null,
  head_ref text not null,
  base_ref text not null,
  title text not null,
  body text not null,
  draft boolean not null default false,
  checks jsonb not null default '[]',
  state text not null default 'open' check (state in ('open', 'merged', 'closed')),
  -- What the diff compared last: shown once branches moved on or went away.
  base_commit text not null,
  head_commit text not null,
  merge_commit text,
  merged_by text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_id, number)
);
-- A forge refuses a second open pull request for a branch; so does this one.
create unique index local_pull_requests_open_head on local_pull_requests (project_id, head_ref) where state = 'open';

-- Browser sessions, opened by a single-use link that the console prints.
create table login_links (
  token_hash bytea primary key,
  lands_on text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create table sessions (
  token_hash bytea primary key,
  subject text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp()
);
