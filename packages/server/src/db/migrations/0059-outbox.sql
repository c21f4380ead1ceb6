-- Tasks are the outbox: what a forge or a mail server could not take is kept, with its reason, until it can.
alter table tasks add column waits integer not null default 0;
alter table tasks add column waiting_since timestamptz;
alter table tasks add column problem text;
-- What earlier releases looked for every minute.
insert into tasks (kind, subject, due_at)
  select 'answer_issue', id, answer_due_at from issue_requests where answer_due_at is not null
  union all select 'send_email', id, due_at from job_emails
  on conflict do nothing;
delete from tasks where kind in ('answer_issues', 'send_emails');
