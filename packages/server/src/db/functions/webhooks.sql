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

-- What is told of a question for approval: a bounded part. The run has all.
create or replace function approval_told(asked job_questions) returns jsonb stable language sql as $$
  select jsonb_build_object('for', 'approval', 'message', asked.question,
    'constructs', (select jsonb_agg(one - '{id,key}'::text[] order by place)
       from jsonb_array_elements(asked.constructs) with ordinality constructs (one, place) where place <= 20),
    'constructCount', jsonb_array_length(asked.constructs), 'until', wire_time(asked.answer_until))
$$;

-- Told with the question, once: a row is inserted for each.
create or replace function tell_question() returns trigger language plpgsql as $$
declare
  wanted text;
  event text := case when new.constructs is null then 'job.question' else 'job.waiting' end;
begin
  -- An archive that is restored asked it before.
  if current_setting('emend.audit', true) = 'off' then
    return null;
  end if;
  insert into deliveries (webhook_id, job_id, event, payload)
    select webhooks.id, jobs.id, event, jsonb_build_object(
      'type', event,
      'timestamp', wire_time(clock_timestamp()),
      'data', jsonb_build_object(
        'projectId', jobs.project_id,
        'job', wire_job(jobs)) || case when new.constructs is null then jsonb_build_object(
        'question', new.question,
        'options', new.options,
        'answerUntil', wire_time(new.answer_until))
        else jsonb_build_object('waiting', approval_told(new)) end)
    from jobs join webhooks on webhooks.project_id = jobs.project_id
    where jobs.id = new.job_id and disabled_at is null and event = any (events);
  if found then
    perform pg_notify('emend_delivery_due', '');
  end if;
  for wanted in insert into job_emails (id, job_id, user_id, question_id)
    select 'eml_' || gen_random_uuid(), jobs.id, users.id, new.id from jobs
      join users on emails_jobs and ('user/' || lower(email) = lower(jobs.created_by)
        -- Anybody with write access can approve. A job that no person started asks all who want emails.
        or (new.constructs is not null and jobs.created_by not like 'user/%' and role <> 'viewer'))
    where jobs.id = new.job_id
    returning id
  loop
    perform ask_task('send_email', wanted);
  end loop;
  return null;
end $$;

create or replace trigger question_asked after insert on job_questions for each row execute function tell_question();
