-- Whether the run that holds the lease has its process to itself: only then does a lost worker speak against the job.
alter table jobs add column alone boolean not null default false;
-- Of `crashes`, those that speak against the job. They count towards the limit.
alter table jobs add column crashes_blamed integer not null default 0;
-- Jobs that lost two workers: each runs alone in its process.
create index jobs_due_alone on jobs (run_after) where status = 'active' and lease is null and crashes >= 2;
