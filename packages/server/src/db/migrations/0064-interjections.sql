-- What people say to a job while it works. The agent's next step takes it; what no step took by the end of the run starts
-- the next round.
create table job_interjections (
  id bigint generated always as identity primary key,
  job_id text not null references jobs (id) on delete cascade,
  prompt text not null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  taken_at timestamptz,
  -- The step that took it. Null: none did.
  step integer
);
create index job_interjections_of_job on job_interjections (job_id);
-- Whether there ever was one, so that jobs without any need not look for them.
alter table jobs add column has_interjections boolean not null default false;
