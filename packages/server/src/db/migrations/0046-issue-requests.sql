-- Requests from issues on a forge: a label, or a comment that names Emend. Each becomes at most one job and one answer.
create table issue_requests (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  number integer not null,
  -- What asked for it: `label/<id>` or `comment/<id>`, with the forge's id.
  cause text not null,
  author text not null,
  -- Null: no job was created.
  job_id text,
  -- Why no job was created. Null with no job: its author may not ask, and gets no answer.
  refusal text,
  -- The forge's id of the comment with the answer, and the text that the forge accepted last.
  answer_id text,
  answer text,
  -- When to post or edit the answer. Null: it is up to date.
  answer_due_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  unique (project_id, number, cause)
);
create index issue_requests_of_job on issue_requests (job_id) where job_id is not null;
create index issue_requests_due on issue_requests (answer_due_at) where answer_due_at is not null;
