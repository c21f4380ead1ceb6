-- Repositories that a project's jobs may read and never write: the code that the documentation is about.
create table context_repositories (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  -- What the agent calls it: `@<name>/<path>`.
  name text not null,
  forge text not null check (forge in ('local', 'github', 'gitlab', 'gitea')),
  -- Without credentials. On the local forge: the repository of another project.
  repository_url text not null,
  -- Null: the repository's default branch.
  base_ref text,
  -- Sealed with EMEND_SECRET; null: it can be read by anybody.
  credential bytea,
  created_at timestamptz not null default now(),
  unique (project_id, name)
);

-- What a job read of them: an array of name, repositoryUrl, forge, ref and commit. Pinned at the first look.
alter table jobs add column context jsonb not null default '[]';
-- What its change is founded on: an array of repository, path, line and commit, each looked up before it was stored.
alter table jobs add column sources jsonb not null default '[]';

-- A job that shows its diff and opens nothing.
alter table jobs add column preview boolean not null default false;

-- As create_job, for a preview: the mark is there before anybody can claim the job.
create function create_preview_job(
  p_id text, p_project text, p_prompt text, p_model text, p_repository_url text, p_branch text, p_created_by text,
  p_base_ref text, p_draft boolean, p_max_cost_usd double precision,
  p_quota integer, p_quota_window interval, p_key text, p_body_hash bytea, p_head text, p_tail text,
  out outcome text, out response text, out job_id text, out used integer, out at timestamptz, out frees_at timestamptz
) language plpgsql as $$
begin
  select made.outcome, made.response, made.job_id, made.used, made.at, made.frees_at
    into outcome, response, job_id, used, at, frees_at
    from create_job(p_id, p_project, p_prompt, p_model, p_repository_url, p_branch, p_created_by, p_base_ref, p_draft,
      p_max_cost_usd, p_quota, p_quota_window, p_key, p_body_hash, p_head, p_tail) made;
  if outcome = 'created' then
    update jobs set preview = true where id = p_id;
  end if;
end $$;
