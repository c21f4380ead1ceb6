-- What people say of a pull request of the local forge as a whole: the last review of each person.
create table local_reviews (
  project_id text not null references projects (id) on delete cascade,
  number integer not null,
  -- An address in lower case, or `console`.
  reviewer text not null,
  -- Null: asked to review, and not done yet.
  verdict text check (verdict in ('approved', 'changes_requested')),
  -- The head that was read.
  commit_id text,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_id, number, reviewer)
);
create index local_reviews_of_reviewer on local_reviews (reviewer, project_id, number);

-- The files of a pull request that a person marked as viewed. Another content is not viewed.
create table viewed_files (
  project_id text not null references projects (id) on delete cascade,
  number integer not null,
  viewer text not null,
  path text not null,
  -- The blob after the change. Empty: the file is deleted.
  content text not null,
  primary key (project_id, number, viewer, path)
);

-- What a person does not want to see in their inbox.
create table inbox_dismissals (
  person text not null,
  -- The item with what it is about: something new about the same thing is another one.
  item text not null,
  dismissed_at timestamptz not null default clock_timestamp(),
  primary key (person, item)
);
create index inbox_dismissals_by_age on inbox_dismissals (dismissed_at);
-- What the inbox reads.
create index jobs_open_pull_of_person on jobs (created_by, id desc) where pull_request ->> 'state' = 'open';
create index site_checks_with_findings on site_checks (project_id) where findings is not null;
create index local_pull_requests_open on local_pull_requests (project_id, number) where state = 'open' and not draft;
