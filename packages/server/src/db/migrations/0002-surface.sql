-- A listing filtered by status walks this instead of every job of the project.
create index jobs_by_status on jobs (project_id, status, id desc);

-- Where a project's events are posted.
create table webhooks (
  id text primary key,
  project_id text not null references projects (id),
  url text not null,
  -- Signs what is posted; sealed with EMEND_SECRET.
  secret bytea not null,
  format text not null default 'standard' check (format in ('standard', 'slack')),
  -- Of the types that notify/webhook-event.ts lists.
  events text[] not null,
  -- By its owner, or by the far end with 410.
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null default clock_timestamp()
);
create index webhooks_by_project on webhooks (project_id);

-- One message to one webhook. The table is the queue: a pending row that is due is sent by whoever takes it first.
create table deliveries (
  -- The message's id for the receiver: the same on every try.
  id text primary key default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  webhook_id text not null references webhooks (id) on delete cascade,
  job_id text not null references jobs (id) on delete cascade,
  event text not null,
  payload jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  tries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  last_status integer,
  last_error text,
  last_try_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create index deliveries_due on deliveries (due_at) where state = 'pending';
create index deliveries_by_webhook on deliveries (webhook_id, created_at desc);
create index deliveries_by_age on deliveries (created_at);
create index deliveries_of_job on deliveries (job_id);
create index jobs_by_pull_request on jobs (project_id, (pull_request ->> 'number')) where pull_request is not null;
