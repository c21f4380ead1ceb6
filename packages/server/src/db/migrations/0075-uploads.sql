-- Pictures and documents that people attach to a prompt or a message. They go with the job's run contents.
create table uploads (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  -- Null: no prompt names it yet.
  job_id text references jobs (id) on delete cascade,
  name text not null,
  type text not null,
  width integer,
  height integer,
  -- A picture without its metadata. Of a document only the text is kept.
  picture bytea,
  text text,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  check ((picture is null) <> (text is null))
);
-- Compressed already.
alter table uploads alter column picture set storage external;
create index uploads_of_job on uploads (job_id) where job_id is not null;
create index uploads_waiting on uploads (project_id) where job_id is null;
