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

-- The job as the wire shows it: the nine fields of jobs/wire-job.ts.
create function wire_job(job jobs) returns jsonb stable language sql
  return jsonb_build_object(
    'id', job.id,
    'status', job.status,
    'source', jsonb_build_object('repository', job.repository_url, 'ref', job.ref),
    'model', job.model,
    'prLink', case when job.status <> 'active' then job.pr_link end,
    'createdAt', wire_time(job.created_at),
    'archivedAt', wire_time(job.archived_at));

-- Every change that webhooks tell of passes here, whoever makes it, and commits together with its deliveries.
create function tell_webhooks() returns trigger language plpgsql as $$
declare
  event text := case
    when new.status is distinct from old.status and new.status <> 'active' then 'job.' || new.status
    else 'pull_request.' || (new.pull_request ->> 'state') end;
begin
  insert into deliveries (webhook_id, job_id, event, payload)
    select id, new.id, event, jsonb_build_object(
      'type', event,
      'timestamp', wire_time(clock_timestamp()),
      'data', jsonb_build_object(
        'projectId', new.project_id,
        'job', wire_job(new),
        'title', new.title,
        'failure', case when new.failure_code is not null then
          jsonb_build_object('code', new.failure_code, 'message', new.failure_message) end,
        'pullRequest', new.pull_request))
    from webhooks where project_id = new.project_id and disabled_at is null and event = any (events);
  if found then
    perform pg_notify('emend_delivery_due', '');
  end if;
  return null;
end $$;
create trigger job_ended after update of status on jobs for each row
  when (new.status is distinct from old.status and new.status <> 'active') execute function tell_webhooks();
create trigger pull_request_settled after update of pull_request on jobs for each row
  when (new.pull_request ->> 'state' is distinct from old.pull_request ->> 'state'
    and new.pull_request ->> 'state' in ('merged', 'closed') and new.status is not distinct from old.status)
  execute function tell_webhooks();

-- A pull request was merged, closed or opened again on its forge: its job says so, and whoever watches it hears.
create function settle_pull_request(p_project text, p_number integer, p_state text) returns void language sql
begin atomic
  with changed as (
    update jobs set pull_request = jsonb_set(pull_request, '{state}', to_jsonb(p_state)),
      event_seq = event_seq + 1, updated_at = clock_timestamp()
    where project_id = p_project and pull_request ->> 'number' = p_number::text
      and pull_request ->> 'state' is distinct from p_state
    returning id, event_seq, pull_request
  ), told as (
    insert into job_events (job_id, seq, kind, data) select id, event_seq, 'pull_request', pull_request from changed
  )
  select pg_notify('emend_job_changed', id) from changed;
end;
create index jobs_by_pull_request on jobs (project_id, (pull_request ->> 'number')) where pull_request is not null;

create function settle_local_pull_request() returns trigger language plpgsql as $$
begin
  perform settle_pull_request(new.project_id, new.number, new.state);
  return null;
end $$;
create trigger local_pull_request_settled after update of state on local_pull_requests for each row
  when (new.state is distinct from old.state) execute function settle_local_pull_request();
