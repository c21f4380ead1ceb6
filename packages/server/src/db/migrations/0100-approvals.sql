-- The review's question: may what Emend does not know on this site be published? It has no step of the agent.
alter table job_questions alter column step drop not null;
alter table job_questions
  -- What it is about, in groups. Null: the agent's own question.
  add column constructs jsonb,
  -- approved, declined, or withdrawn by a message that continues the work.
  add column decision text,
  add column decided_by text,
  add column decided_at timestamptz;
alter table jobs
  -- The request's own wish: ask, draft or refuse. Null: the project's setting.
  add column unknown text,
  -- The groups of constructs that people approved in this round.
  add column approved jsonb,
  -- What Emend refused of a job that then changed nothing.
  add column refused text;
-- What people allowed on a site from then on.
create table allowed_constructs (
  project_id text not null references projects (id) on delete cascade,
  key text not null,
  allowed_by text not null,
  allowed_at timestamptz not null default clock_timestamp(),
  job_id text references jobs (id) on delete set null,
  primary key (project_id, key)
);
create index allowed_constructs_of_job on allowed_constructs (job_id) where job_id is not null;
-- The setting that this replaces.
update projects set settings = jsonb_set(settings #- '{policy,codeAsDraft}', '{policy,unknown}', '"draft"')
where settings #> '{policy,codeAsDraft}' = 'true';
update projects set settings = settings #- '{policy,codeAsDraft}' where settings #> '{policy,codeAsDraft}' is not null;
-- functions: 048c0c50fc29b808
