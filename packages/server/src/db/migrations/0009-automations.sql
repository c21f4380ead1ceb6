-- Who asks for jobs by itself: at times, after pushes to a context repository, or when somebody says so.
create table automations (
  id text primary key default 'aut_' || replace(gen_random_uuid()::text, '-', ''),
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  -- Of the forms that automations/automation.ts names.
  trigger jsonb not null,
  -- Of a push trigger; null there: the repository was taken away since.
  repository_id text references context_repositories (id) on delete set null,
  -- A template: `{{name}}` stands for a value of the event.
  prompt text not null,
  -- Null: the project's.
  model text,
  paused_at timestamptz,
  -- A cron trigger's next time; when a push trigger's repository is looked at next.
  due_at timestamptz,
  -- The job that it made last: while its pull request is open, later runs continue it.
  job_id text references jobs (id) on delete set null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (project_id, name)
);
create index automations_due on automations (due_at) where paused_at is null;

-- One event of an automation, and what came of it. The key makes an event count once, however many nodes see it.
create table automation_runs (
  id text primary key default 'arn_' || replace(gen_random_uuid()::text, '-', ''),
  automation_id text not null references automations (id) on delete cascade,
  event text not null,
  -- What the template's variables stand for.
  values jsonb not null,
  by_hand boolean not null default false,
  state text not null default 'waiting' check (state in ('waiting', 'started', 'continued', 'merged', 'skipped')),
  words text not null,
  try_at timestamptz not null default clock_timestamp(),
  -- Of the prompt without its date: what a proposal that was closed unmerged said no to.
  content_hash bytea,
  job_id text references jobs (id) on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  settled_at timestamptz,
  unique (automation_id, event)
);
create index automation_runs_waiting on automation_runs (automation_id, try_at) where state = 'waiting';
create index automation_runs_by_age on automation_runs (automation_id, created_at desc);
create index automation_runs_of_job on automation_runs (job_id) where job_id is not null;

-- Where the branches and tags that a push trigger watches were when they were last looked at.
create table automation_refs (
  automation_id text not null references automations (id) on delete cascade,
  ref text not null,
  commit_id text not null,
  primary key (automation_id, ref)
);
