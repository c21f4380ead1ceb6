-- Words that people replaced in what jobs had proposed, before they merged it.
create table review_lessons (
  project_id text not null references projects (id) on delete cascade,
  job_id text not null references jobs (id) on delete cascade,
  path text not null,
  replaced text not null,
  by_text text not null,
  -- The word behind it, in both texts.
  next_word text not null,
  primary key (job_id, replaced, by_text)
);
create index review_lessons_of_project on review_lessons (project_id);
-- A line that Emend suggested for the project's guidance. Each is suggested once.
create table rule_suggestions (
  project_id text not null references projects (id) on delete cascade,
  line text not null,
  branch text not null,
  created_at timestamptz not null default date_trunc('second', clock_timestamp()),
  -- Null: the pull request is not open yet.
  number integer,
  primary key (project_id, line)
);
-- Jobs of before are not read again.
alter table jobs add column lessons_read boolean not null default true;
alter table jobs alter column lessons_read set default false;
create index jobs_with_lessons on jobs (project_id) where not lessons_read and pull_request ->> 'state' = 'merged';
