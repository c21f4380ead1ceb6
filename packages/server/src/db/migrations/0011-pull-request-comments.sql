-- What people say on the local forge's pull requests.
create table local_pull_request_comments (
  id text primary key,
  project_id text not null,
  number integer not null,
  author text not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  foreign key (project_id, number) references local_pull_requests (project_id, number) on delete cascade
);
create index local_pull_request_comments_of_one on local_pull_request_comments (project_id, number, created_at);
