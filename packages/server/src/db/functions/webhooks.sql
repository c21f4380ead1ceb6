-- Every change that webhooks tell of passes here, whoever makes it, and commits together with its deliveries.
create or replace function tell_webhooks() returns trigger language plpgsql as $$
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

create or replace trigger job_ended after update of status on jobs for each row
  when (new.status is distinct from old.status and new.status <> 'active') execute function tell_webhooks();

create or replace trigger pull_request_settled after update of pull_request on jobs for each row
  when (new.pull_request ->> 'state' is distinct from old.pull_request ->> 'state'
    and new.pull_request ->> 'state' in ('merged', 'closed') and new.status is not distinct from old.status)
  execute function tell_webhooks();
