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

-- What nodes remember of a project is forgotten when it changes, whoever changes it.
create function notify_project_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('emend_project_changed', new.id);
  return null;
end $$;
create trigger project_changed after update on projects for each row execute function notify_project_changed();

-- Times as the wire shows them: UTC, milliseconds, cut off and never rounded up.
create function wire_time(at timestamptz) returns text stable language sql
  return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Admits one use, or says when the next fits. Only one transaction at a time decides about a project (two whose hashes
-- meet wait for each other, no more). The time is read after the lock, so that no use is dated before one that was
-- admitted earlier; tests of the window give p_now.
create function admit_use(
  p_project text, p_kind text, p_limit integer, p_window interval, p_now timestamptz,
  out is_admitted boolean, out used integer, out at timestamptz, out frees_at timestamptz
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_project, 0));
  at := coalesce(p_now, clock_timestamp());
  select count(*), min(used_at) + p_window into used, frees_at
    from quota_uses where project_id = p_project and kind = p_kind and used_at > at - p_window;
  is_admitted := used < p_limit;
  if is_admitted then
    insert into quota_uses (project_id, kind, used_at) values (p_project, p_kind, at);
    used := used + 1;
  elsif used > p_limit then
    -- The limit was lowered: more than one use must leave the window first.
    select used_at + p_window into frees_at
      from quota_uses where project_id = p_project and kind = p_kind and used_at > at - p_window
      order by used_at offset used - p_limit limit 1;
  end if;
  frees_at := coalesce(frees_at, at + p_window);
end $$;

-- Creates a job in one round trip: replay or conflict, quota, row, event and idempotency key, all or nothing.
-- The answer's text comes in two halves, around the time of creation, which is known only here.
create function create_job(
  p_id text, p_project text, p_prompt text, p_model text, p_repository_url text, p_branch text, p_created_by text,
  p_base_ref text, p_draft boolean, p_max_cost_usd double precision,
  p_quota integer, p_quota_window interval, p_key text, p_body_hash bytea, p_head text, p_tail text,
  out outcome text, out response text, out job_id text, out used integer, out at timestamptz, out frees_at timestamptz
) language plpgsql as $$
declare
  first idempotency_keys;
  quota record;
begin
  if p_key is not null then
    -- The same lock as the quota's: of requests that race with one key, the first is stored before the next looks.
    perform pg_advisory_xact_lock(hashtextextended(p_project, 0));
    select * into first from idempotency_keys
      where project_id = p_project and key = p_key and created_at > clock_timestamp() - interval '24 hours';
    if found then
      at := clock_timestamp();
      select count(*), coalesce(min(used_at), at) + p_quota_window into used, frees_at
        from quota_uses where project_id = p_project and kind = 'create' and used_at > at - p_quota_window;
      outcome := case when first.body_hash = p_body_hash then 'replayed' else 'conflict' end;
      job_id := first.job_id;
      response := first.response;
      return;
    end if;
  end if;
  quota := admit_use(p_project, 'create', p_quota, p_quota_window, null);
  used := quota.used;
  at := quota.at;
  frees_at := quota.frees_at;
  if not quota.is_admitted then
    outcome := 'limited';
    return;
  end if;
  outcome := 'created';
  job_id := p_id;
  response := p_head || wire_time(at) || p_tail;
  insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, created_at, updated_at,
                    run_after, base_ref, draft, max_cost_usd, event_seq)
    values (p_id, p_project, p_prompt, p_model, p_repository_url, p_branch, p_branch, p_created_by, at, at,
            at, p_base_ref, p_draft, p_max_cost_usd, 1);
  insert into job_events (job_id, seq, kind, data, created_at) values (p_id, 1, 'job.created', '{}', at);
  if p_key is not null then
    insert into idempotency_keys (project_id, key, body_hash, job_id, response, created_at)
      values (p_project, p_key, p_body_hash, p_id, response, at)
      on conflict (project_id, key) do update set body_hash = excluded.body_hash, job_id = excluded.job_id,
        response = excluded.response, created_at = excluded.created_at;
  end if;
end $$;
