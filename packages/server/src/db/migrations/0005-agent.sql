-- A project's own keys for models, sealed with EMEND_SECRET; without one the installation's is used.
create table model_keys (
  project_id text not null references projects (id) on delete cascade,
  vendor text not null,
  credential bytea not null,
  primary key (project_id, vendor)
);

-- What was asked after a job's first prompt, each after the steps that were there by then.
create table job_messages (
  job_id text not null references jobs (id) on delete cascade,
  number integer not null,
  prompt text not null,
  after_step integer not null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (job_id, number)
);

-- A follow-up of a job whose branch was pushed works on that branch as it is by then, people's commits included.
alter table jobs add column continues_branch boolean not null default false;
