-- The list of all pull requests, newest first.
create index jobs_with_pull_request on jobs (created_at desc, project_id desc, ((pull_request ->> 'number')::int) desc)
  where pull_request is not null;
create index local_pull_requests_by_creation on local_pull_requests (created_at desc, project_id desc, number desc);
