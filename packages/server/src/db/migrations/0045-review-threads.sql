-- Comments on lines of a pull request of the local forge.
create table review_threads (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  number integer not null,
  -- Before: a line that the change removes.
  side text not null check (side in ('before', 'after')),
  path text not null,
  first_line integer not null check (first_line > 0),
  last_line integer not null check (last_line >= first_line),
  -- The commit of these lines, and the head that the author saw.
  commit_id text not null,
  head_commit text not null,
  quoted text not null,
  -- The text that should replace the lines. Null: only a comment.
  suggestion text,
  applied_commit text,
  resolved_by text,
  created_at timestamptz not null default clock_timestamp()
);
create index review_threads_of_pull on review_threads (project_id, number, created_at);

create table review_comments (
  id text primary key,
  thread_id text not null references review_threads (id) on delete cascade,
  author text not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index review_comments_of_thread on review_comments (thread_id, created_at);

-- While a person's edit is pushed to the job's branch, no run of the job starts.
alter table jobs add column editing uuid, add column editing_until timestamptz;
