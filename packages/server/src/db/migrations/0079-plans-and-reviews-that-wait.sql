-- For the inbox: the plans that were made. Those that were carried out stay in it, and are few.
create index jobs_with_plan on jobs (ended_at) where plan and status = 'completed';
-- Emails to people whose review is asked for have a pull request instead of a job.
alter table job_emails alter column job_id drop not null;
alter table job_emails add column project_id text;
alter table job_emails add column number integer;
alter table job_emails add foreign key (project_id, number) references local_pull_requests (project_id, number) on delete cascade;
create index job_emails_of_pull on job_emails (project_id, number);
