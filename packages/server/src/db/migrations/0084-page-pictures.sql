-- Changed pages as readers see them, before and after a job's change. They go with the job's run contents.
create table page_pictures (
  job_id text not null references jobs (id) on delete cascade,
  path text not null,
  width integer not null,
  side text not null check (side in ('before', 'after')),
  height integer not null,
  -- Rows of pixels, from and to, that the other side does not have.
  marks jsonb not null,
  webp bytea not null,
  primary key (job_id, path, width, side)
);
-- Compressed already.
alter table page_pictures alter column webp set storage external;
