create or replace function email_job_end() returns trigger language plpgsql as $$
declare wanted text;
begin
  for wanted in insert into job_emails (id, job_id, user_id)
    select 'eml_' || gen_random_uuid(), new.id, id from users where emails_jobs and 'user/' || lower(email) = lower(new.created_by)
    returning id
  loop
    perform ask_task('send_email', wanted);
  end loop;
  return null;
end $$;

create or replace trigger email_job_end after update of status on jobs for each row
  when (old.status = 'active' and new.status in ('completed', 'failed')) execute function email_job_end();
