-- When the job's pull request is looked at next (null: now), and which comments on it were heard.
alter table jobs add column pull_request_look_at timestamptz;
alter table jobs add column comments_heard text[] not null default '{}';
create index jobs_with_open_pull_request on jobs (pull_request_look_at nulls first)
  where pull_request ->> 'state' = 'open';
