-- The whole schema as 0.1.0 has it. Later changes are files of their own, which only add.
-- What db/functions was by then:
-- functions: 048c0c50fc29b808

-- Times are the database's own; ids are text, opaque and sortable by creation.
create table projects (
  id text primary key,
  name text not null,
  forge text not null check (forge in ('local', 'github', 'gitlab', 'gitea', 'bitbucket', 'azure-devops')),
  -- What clients see, without credentials.
  repository_url text not null,
  -- Null: the repository's default branch.
  base_ref text,
  docs_dir text not null default '',
  -- Everything a maintainer may set; parsed by accounts/project-settings.ts.
  settings jsonb not null default '{}',
  -- Forge token, sealed with EMEND_SECRET.
  credential bytea,
  created_at timestamptz not null default now(),
  -- Whose turns a project's looks take: a digest, from which the token cannot be read. Null: no look has needed a token yet.
  poll_credential text
);
-- The dashboard lists projects page by page, oldest first.
create index projects_listed on projects (created_at, id);

create table admin_keys (
  id text primary key,
  secret_hash bytea not null,
  -- The first characters, to recognise a key in a list.
  hint text not null,
  name text not null,
  project_ids text[] not null,
  scope text not null check (scope in ('read', 'write')),
  expires_at timestamptz,
  -- Addresses or CIDR ranges; null admits every address.
  allow_list text[],
  created_by text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- A key that a person's consent gave to a program (OAuth). It works only for the tokens below.
  user_id text,
  -- The program's address: its client id metadata document.
  client_id text,
  constraint admin_keys_of_programs check ((user_id is null) = (client_id is null))
);
create index admin_keys_by_user on admin_keys (user_id) where user_id is not null;

-- The jobs table is the run queue: no second state to disagree with it.
create table jobs (
  id text primary key,
  project_id text not null references projects (id),
  status text not null default 'active' check (status in ('active', 'completed', 'archived', 'failed')),
  phase text not null default 'queued' check (phase in ('queued', 'preparing', 'working', 'checking', 'publishing')),
  prompt text not null,
  -- The model that answered last; before the first step, the one chosen.
  model text not null,
  -- The one chosen, from the first step on: later runs ask it again, by whatever name it answers.
  chosen_model text,
  -- What the wire shows as source; `ref` becomes null when a job ends with nothing pushed.
  repository_url text not null,
  branch text not null,
  ref text,
  pr_link text,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  archived_at timestamptz,
  -- What the request asked for beyond the project's settings.
  base_ref text,
  draft boolean,
  max_cost_usd double precision,
  -- The lease: who may write, and until when.
  lease uuid,
  lease_until timestamptz,
  run_after timestamptz not null default clock_timestamp(),
  runs integer not null default 0,
  crashes integer not null default 0,
  -- Tries since the last progress that ended in a far end being away.
  retries integer not null default 0,
  stop_asked text check (stop_asked in ('archive', 'cancel')),
  event_seq integer not null default 0,
  -- What the run found out, each stored before anything follows from it.
  base_commit text,
  -- The branch that base_commit was read from: what the pull request asks to merge into.
  base_branch text,
  title text,
  summary text,
  findings jsonb,
  usage jsonb,
  -- Deflated.
  diff bytea,
  -- The agent stopped at this limit; what it had done was kept.
  limit_reached text check (limit_reached in ('budget_exceeded', 'timeout')),
  -- Set together, with phase 'publishing', before the push: from there on a job is carried through.
  tree_id text,
  commit_id text,
  pushed boolean not null default false,
  pull_request jsonb,
  failure_code text,
  failure_message text,
  -- Step messages and overlay are dropped some days after the end.
  contents_dropped_at timestamptz,
  constraint final_jobs_hold_no_lease check (status = 'active' or lease is null),
  -- How much a change touches: lists show it without unpacking every diff. Null where nothing was recorded yet.
  diff_figures jsonb,
  -- When the job's pull request is looked at next (null: now), and which comments on it were heard.
  pull_request_look_at timestamptz,
  comments_heard text[] not null default '{}',
  -- A follow-up of a job whose branch was pushed works on that branch as it is by then, people's commits included.
  continues_branch boolean not null default false,
  -- What a job read of them: an array of name, repositoryUrl, forge, ref and commit. Pinned at the first look.
  context jsonb not null default '[]',
  -- What its change is founded on: an array of repository, path, line and commit, each looked up before it was stored.
  sources jsonb not null default '[]',
  -- A job that shows its diff and opens nothing.
  preview boolean not null default false,
  -- Files that the base branch and the job changed differently, where the base moved on before the job published: its
  -- pull request says so. Null: the base did not move, or both changes went together.
  base_conflict text[],
  -- A pull request as a whole, where messages follow its first prompt. Until a job's first message all of these are null.
  -- Where its branch parted from the base branch: the base of the round that opened it.
  fork_commit text,
  -- What the stored diff is against: the base branch as it was by then, or where the branch parted from it.
  diff_base text,
  -- The commit that the last round left on the branch: whatever is on top of it, people pushed.
  branch_commit text,
  people_paths text[],
  -- How this round's commit is called; `title` is the pull request's.
  commit_title text,
  -- What each earlier round said of its work: {message, title, pullTitle, summary, failure}; message 0 is the first prompt.
  rounds jsonb not null default '[]',
  -- Since when a job with work to publish waits for its forge, and what the forge said. Null: it does not wait.
  waiting_since timestamptz,
  waiting_words text,
  -- What did not work and did not fail the job, such as a label that the repository does not have.
  notices jsonb not null default '[]',
  -- What a round did in answer to a message; `summary` is then that of the whole pull request.
  reply text,
  -- A job that was stopped while it waited for its forge: its pull request may have been opened by a request whose answer
  -- was lost.
  publication_unsure boolean not null default false,
  -- Whether the run that holds the lease has its process to itself: only then does a lost worker speak against the job.
  alone boolean not null default false,
  -- Of `crashes`, those that speak against the job. They count towards the limit.
  crashes_blamed integer not null default 0,
  -- The diff so far of an active job, for people who watch it; deflated. Deleted when the job ends: the reviewed diff stays.
  working_diff bytea,
  -- Who cancelled the job: `user/…` or `key/…`. Null: it was not cancelled.
  cancelled_by text,
  -- Whether a merged job's citations were turned into claims. Older jobs did not store the cited text.
  claims_kept boolean not null default false,
  -- While a person's edit is pushed to the job's branch, no run of the job starts.
  editing uuid,
  editing_until timestamptz,
  -- What a waiting job waits for, and why a process takes no jobs.
  waiting_for text not null default 'forge',
  -- Until when a request to open the job's pull request may still take effect on the forge. Null: none was sent.
  create_until timestamptz,
  -- Whether there ever was one, so that jobs without any need not look for them.
  has_interjections boolean not null default false,
  -- A preview that somebody had published: its stored change is published as it is, without a model.
  publishes_preview boolean not null default false,
  -- The first round of such a job only makes a plan. A message has it carried out.
  plan boolean not null default false,
  -- Whom CODEOWNERS names for the files of a change, and what kind of change it is, if Emend can merge it.
  code_owners jsonb,
  change_kind text,
  -- Jobs of before are not read again.
  lessons_read boolean not null default false,
  -- Those who wrote the code that a job cites are asked for their review once.
  authors_asked boolean not null default false,
  -- The request's own wish: ask, draft or refuse. Null: the project's setting.
  unknown text,
  -- The groups of constructs that people approved in this round.
  approved jsonb,
  -- What Emend refused of a job that then changed nothing.
  refused text
);
create index jobs_by_project on jobs (project_id, id desc);
create index jobs_due on jobs (project_id, run_after) where status = 'active' and lease is null;
create index jobs_ended on jobs (ended_at) where ended_at is not null;
create index jobs_with_contents on jobs (ended_at) where ended_at is not null and contents_dropped_at is null;
-- A listing filtered by status walks this instead of every job of the project.
create index jobs_by_status on jobs (project_id, status, id desc);
create index jobs_by_pull_request on jobs (project_id, (pull_request ->> 'number')) where pull_request is not null;
-- The dashboard lists the jobs of all projects together.
create index jobs_of_all_projects_by_status on jobs (status, id desc);
create index jobs_with_open_pull_request on jobs (pull_request_look_at nulls first)
  where pull_request ->> 'state' = 'open';
create index jobs_with_unsure_publication on jobs (pull_request_look_at nulls first) where publication_unsure;
-- Jobs that lost two workers: each runs alone in its process.
create index jobs_due_alone on jobs (run_after) where status = 'active' and lease is null and crashes >= 2;
-- A history of a million jobs must not slow the pages down: what they count is rolled up, what they list is indexed.
create index jobs_by_creation on jobs (created_at);
create index jobs_claims_due on jobs (project_id, id)
  where not claims_kept and sources <> '[]' and pull_request ->> 'state' = 'merged';
-- The list of all pull requests, newest first.
create index jobs_with_pull_request on jobs (created_at desc, project_id desc, ((pull_request ->> 'number')::int) desc)
  where pull_request is not null;
-- A renewed lease changes one row in place: its time is in no index.
create index jobs_held on jobs (project_id) where lease is not null;
alter table jobs set (fillfactor = 85);
-- What the inbox reads.
create index jobs_open_pull_of_person on jobs (created_by, id desc) where pull_request ->> 'state' = 'open';
-- For the inbox: the plans that were made. Those that were carried out stay in it, and are few.
create index jobs_with_plan on jobs (ended_at) where plan and status = 'completed';
create index jobs_with_lessons on jobs (project_id)
  where not lessons_read and pull_request ->> 'state' in ('merged', 'closed');
-- What people search for: the title and the beginning of the prompt. Where the database has no pg_trgm, or its user may not
-- install it, searches look at the newest jobs only: see dashboard/list-jobs.ts.
create function searched_text(title text, prompt text) returns text immutable language sql
  return coalesce(title, '') || E'\n' || left(prompt, 1000);
do $$
begin
  create extension if not exists pg_trgm;
  create index jobs_searched on jobs using gin (searched_text(title, prompt) gin_trgm_ops);
exception when others then
  raise notice 'no index for searches: %', sqlerrm;
end $$;

-- The sliding log of accepted uses: exact where a window or a bucket is not.
create table quota_uses (
  project_id text not null references projects (id),
  kind text not null check (kind in ('create', 'message')),
  used_at timestamptz not null
);
create index quota_uses_in_window on quota_uses (project_id, kind, used_at);

create table idempotency_keys (
  project_id text not null references projects (id),
  key text not null,
  body_hash bytea not null,
  job_id text not null,
  -- The first answer, replayed byte for byte.
  response text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- A step holds only the messages that it added.
create table steps (
  job_id text not null references jobs (id) on delete cascade,
  number integer not null,
  messages jsonb not null,
  usage jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  primary key (job_id, number),
  -- A step's messages byte for byte: jsonb orders the keys of a tool's arguments, and a vendor's prompt cache then misses.
  -- Null: forgotten with `messages`.
  said json
);

create table overlay (
  job_id text not null references jobs (id) on delete cascade,
  path text not null,
  mode text not null,
  -- Deflated; null where the file is deleted.
  content bytea,
  deleted boolean not null default false,
  primary key (job_id, path),
  check (deleted = (content is null))
);

create table job_events (
  job_id text not null references jobs (id) on delete cascade,
  seq integer not null,
  kind text not null,
  data jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (job_id, seq)
);

-- The local forge's pull requests.
create table local_pull_requests (
  project_id text not null references projects (id),
  number integer not null,
  head_ref text not null,
  base_ref text not null,
  title text not null,
  body text not null,
  draft boolean not null default false,
  checks jsonb not null default '[]',
  state text not null default 'open' check (state in ('open', 'merged', 'closed')),
  -- What the diff compared last: shown once branches moved on or went away.
  base_commit text not null,
  head_commit text not null,
  merge_commit text,
  merged_by text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_id, number)
);
-- A forge refuses a second open pull request for a branch; so does this one.
create unique index local_pull_requests_open_head on local_pull_requests (project_id, head_ref) where state = 'open';
create index local_pull_requests_listed on local_pull_requests ((state = 'open') desc, created_at desc);
create index local_pull_requests_listed_of_project
  on local_pull_requests (project_id, (state = 'open') desc, created_at desc);
create index local_pull_requests_by_creation on local_pull_requests (created_at desc, project_id desc, number desc);
create index local_pull_requests_open on local_pull_requests (project_id, number) where state = 'open' and not draft;

-- Where a project's events are posted.
create table webhooks (
  id text primary key,
  project_id text not null references projects (id),
  url text not null,
  -- Signs what is posted; sealed with EMEND_SECRET.
  secret bytea not null,
  format text not null default 'standard' check (format in ('standard', 'slack')),
  -- Of the types that notify/webhook-event.ts lists.
  events text[] not null,
  -- By its owner, or by the far end with 410.
  disabled_at timestamptz,
  disabled_reason text,
  created_at timestamptz not null default clock_timestamp(),
  -- A webhook's address is often a secret: sealed with EMEND_SECRET here, and `url` keeps what may be shown of it.
  sealed_url bytea,
  old_secret bytea,
  old_secret_until timestamptz
);
create index webhooks_by_project on webhooks (project_id);

-- One message to one webhook. The table is the queue: a pending row that is due is sent by whoever takes it first.
create table deliveries (
  -- The message's id for the receiver: the same on every try.
  id text primary key default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
  webhook_id text not null references webhooks (id) on delete cascade,
  job_id text references jobs (id) on delete cascade,
  event text not null,
  payload jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  tries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  last_status integer,
  last_error text,
  last_try_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);
create index deliveries_due on deliveries (due_at) where state = 'pending';
create index deliveries_by_webhook on deliveries (webhook_id, created_at desc);
create index deliveries_by_age on deliveries (created_at);
create index deliveries_of_job on deliveries (job_id);

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
  primary key (job_id, number),
  -- The comment that a message came from, and what its round ended with. Its answer is sent from these.
  comment_id text,
  outcome jsonb
);

-- Repositories that a project's jobs may read and never write: the code that the documentation is about.
create table context_repositories (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  -- What the agent calls it: `@<name>/<path>`.
  name text not null,
  forge text not null check (forge in ('local', 'github', 'gitlab', 'gitea', 'bitbucket', 'azure-devops')),
  -- Without credentials. On the local forge: the repository of another project.
  repository_url text not null,
  -- Null: the repository's default branch.
  base_ref text,
  -- Sealed with EMEND_SECRET; null: it can be read by anybody.
  credential bytea,
  created_at timestamptz not null default now(),
  unique (project_id, name),
  -- The API of a context repository's forge, where it does not follow from the repository's address.
  api_url text
);

-- Who asks for jobs by itself: at times, after pushes to a context repository, or when somebody says so.
create table automations (
  id text primary key default 'aut_' || replace(gen_random_uuid()::text, '-', ''),
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  -- Of the forms that automations/automation.ts names.
  trigger jsonb not null,
  -- Of a push trigger; null there: the repository was taken away since.
  repository_id text references context_repositories (id) on delete set null,
  -- A template: `{{name}}` stands for a value of the event.
  prompt text not null,
  -- Null: the project's.
  model text,
  paused_at timestamptz,
  -- A cron trigger's next time; when a push trigger's repository is looked at next.
  due_at timestamptz,
  -- The job that it made last: while its pull request is open, later runs continue it.
  job_id text references jobs (id) on delete set null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (project_id, name),
  -- What signs the webhooks that start an automation, where a service chose it; null: it is derived from EMEND_SECRET.
  webhook_secret bytea
);
create index automations_due on automations (due_at) where paused_at is null;

-- One event of an automation, and what came of it. The key makes an event count once, however many nodes see it.
create table automation_runs (
  id text primary key default 'arn_' || replace(gen_random_uuid()::text, '-', ''),
  automation_id text not null references automations (id) on delete cascade,
  event text not null,
  -- What the template's variables stand for.
  values jsonb not null,
  by_hand boolean not null default false,
  state text not null default 'waiting' check (state in ('waiting', 'started', 'continued', 'merged', 'skipped')),
  words text not null,
  try_at timestamptz not null default clock_timestamp(),
  -- Of the prompt without its date: what a proposal that was closed unmerged said no to.
  content_hash bytea,
  job_id text references jobs (id) on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  settled_at timestamptz,
  unique (automation_id, event)
);
create index automation_runs_waiting on automation_runs (automation_id, try_at) where state = 'waiting';
create index automation_runs_by_age on automation_runs (automation_id, created_at desc);
create index automation_runs_of_job on automation_runs (job_id) where job_id is not null;

-- Where the branches and tags that a push trigger watches were when they were last looked at.
create table automation_refs (
  automation_id text not null references automations (id) on delete cascade,
  ref text not null,
  commit_id text not null,
  primary key (automation_id, ref),
  -- A pull request trigger stores the last state of each open pull request: after a merge, it is in no list any more.
  details jsonb
);

-- People who log in. Without a password: by single sign-on alone.
create table users (
  id text primary key,
  email text not null,
  name text not null,
  role text not null check (role in ('owner', 'maintainer', 'viewer')),
  password_hash text,
  -- Who this is to the identity provider: its issuer and its subject.
  identity text unique,
  created_at timestamptz not null default clock_timestamp(),
  last_login_at timestamptz,
  -- Whether a person gets an email when a job of theirs ends.
  emails_jobs boolean not null default false
);
create unique index users_by_email on users (lower(email));

-- Browser sessions, opened by a single-use link that the console prints.
create table login_links (
  token_hash bytea primary key,
  lands_on text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  -- Every single-use link: to log in, to become the owner, to accept an invitation, to set a new password.
  purpose text not null default 'login' check (purpose in ('login', 'owner', 'invite', 'reset')),
  -- The owner's link is derived from this and EMEND_SECRET, so that every node prints the same one.
  seed bytea,
  user_id text references users (id) on delete cascade,
  email text,
  role text check (role in ('owner', 'maintainer', 'viewer')),
  created_by text
);
create unique index one_owner_link on login_links (purpose) where purpose = 'owner';

create table sessions (
  token_hash bytea primary key,
  subject text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  -- A session is a person's, or the console's where a link of the console opened it. It ends with the person.
  user_id text references users (id) on delete cascade,
  -- How a browser was logged in, and from where, for whoever looks at their own.
  opened_by text,
  opened_from text,
  -- When the person last showed a password or a factor.
  proved_at timestamptz
);
create index sessions_of_user on sessions (user_id);

-- Attempts to log in, by address and by account, as long as they count.
create table login_attempts (
  key text not null,
  attempt uuid not null,
  at timestamptz not null default clock_timestamp()
);
create index login_attempts_by_key on login_attempts (key, at);

-- What the installation was told in the dashboard; it wins over the environment.
create table settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz not null default clock_timestamp()
);

-- Who changed what, when and from where. Ids sort by time.
create table audit_log (
  id text primary key default to_char(clock_timestamp() at time zone 'UTC', 'YYYYMMDDHH24MISSUS')
    || substr(gen_random_uuid()::text, 1, 8),
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  address text,
  action text not null,
  target text,
  details jsonb not null default '{}'
);
create index audit_log_by_actor on audit_log (actor, id desc);
create index audit_log_by_action on audit_log (action, id desc);

-- What people say on the local forge's pull requests.
create table local_pull_request_comments (
  id text primary key,
  project_id text not null,
  number integer not null,
  author text not null,
  body text not null,
  created_at timestamptz not null default clock_timestamp(),
  foreign key (project_id, number) references local_pull_requests (project_id, number) on delete cascade,
  -- A comment that is the text of a review which requests changes: Emend acts on it without a mention.
  requests_changes boolean not null default false
);
create index local_pull_request_comments_of_one on local_pull_request_comments (project_id, number, created_at);

-- What the checks found on a project's base branch, over time. A look that failed says why instead.
create table site_checks (
  project_id text not null references projects (id) on delete cascade,
  checked_at timestamptz not null default clock_timestamp(),
  commit_id text,
  branch text,
  framework text,
  pages integer,
  -- By check: how many, of which severity, and how many of them have a certain fix.
  counts jsonb,
  -- A bounded part of them, kept of the newest look alone.
  findings jsonb,
  problem text,
  primary key (project_id, checked_at),
  constraint either_found_or_failed check ((counts is null) = (problem is not null)),
  -- The sources that a check of a site compared the pages with: repository, commit, problem.
  sources jsonb not null default '[]'
);
create index site_checks_with_findings on site_checks (project_id) where findings is not null;

-- Whoever was removed: no domain lets them back in until they are invited again. By triggers, so that no way of
-- removing somebody leaves it out.
create table removed_members (
  email text primary key,
  identity text,
  removed_at timestamptz not null default clock_timestamp()
);
create index removed_members_by_identity on removed_members (identity) where identity is not null;

-- A GitHub App that was made for a project which is not added yet: its key is shown once, so it is kept before anything
-- that can fail. Removed once the project has it.
create table github_apps (
  repository_url text primary key,
  project_id text not null,
  name text not null,
  install_url text not null,
  credential bytea not null,
  created_at timestamptz not null default now()
);

-- How far polls of pull requests with one token have spent its time, over all nodes and all projects that share it.
create table poll_turns (
  credential_id text primary key,
  spent_until timestamptz not null
);

-- What addresses outside of a project's site answered, so that one bad day makes no finding.
create table external_links (
  project_id text not null references projects (id) on delete cascade,
  url text not null,
  asked_at timestamptz not null,
  -- The last good answer; null: there was none yet.
  good_at timestamptz,
  -- Since when, and how often in a row, it failed.
  failing_since timestamptz,
  failures integer not null default 0,
  -- The last answer in words, such as "404" or "no answer".
  answer text not null,
  primary key (project_id, url)
);

-- The running processes of the installation, each with its last sign of life. A process that stops takes its row away.
create table nodes (
  id text primary key,
  host text not null,
  role text not null,
  version text not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  problem text,
  -- Where a process keeps its mirrors: the same number after a restart. Null: it takes no jobs.
  home integer,
  -- All its slots are in use.
  is_full boolean not null default false
);

-- What is done once across all nodes: housekeeping by the clock, and what somebody asked for.
create table tasks (
  kind text not null,
  -- What it is about, such as a project's id; empty: there is one of its kind.
  subject text not null default '',
  due_at timestamptz not null,
  -- How often it was asked for: what is asked for again while it runs is done again.
  asked integer not null default 0,
  tries integer not null default 0,
  lease uuid,
  held_until timestamptz,
  primary key (kind, subject),
  -- Tasks are the outbox: what a forge or a mail server could not take is kept, with its reason, until it can.
  waits integer not null default 0,
  waiting_since timestamptz,
  problem text,
  -- Labels, reviewers and answers to comments go through the outbox too.
  words text,
  -- The service asked for a pause until then. No request hastens the task.
  not_before timestamptz
);
create index tasks_due on tasks (due_at);

-- The usage of whole days, of jobs by the day of their creation (UTC). Today's is counted when it is asked for.
create table usage_days (
  day date not null,
  -- Empty: of all projects, of all models.
  project_id text not null,
  model text not null,
  jobs integer not null,
  completed integer not null,
  failed integer not null,
  pull_requests integer not null,
  merged integer not null,
  input_tokens double precision not null,
  output_tokens double precision not null,
  cost_usd double precision not null,
  -- The jobs whose duration is known, and their median.
  timed integer not null,
  median_ms double precision,
  primary key (day, project_id, model)
);
create index usage_days_of_project on usage_days (project_id, day) where model = '';
create index usage_days_by_jobs on usage_days (day, jobs desc) where model = '' and project_id <> '';

create table usage_rolled_days (
  day date primary key,
  -- One of its jobs changed since: to be rolled up again.
  changed_at timestamptz
);
create index usage_rolled_days_changed on usage_rolled_days (day) where changed_at is not null;

-- Monthly budgets of projects (their setting `monthlyBudget`) and of the installation (the setting of the same name).
-- A project's usage per calendar month (UTC), counted at the time of use. Rows outlive their project: the money is spent.
create table monthly_usage (
  project_id text not null,
  month date not null,
  jobs integer not null default 0,
  cost_usd double precision not null default 0,
  primary key (project_id, month)
);
create index monthly_usage_by_month on monthly_usage (month);

-- The warnings that were sent. The scope is a project's id, or empty for the installation.
create table budget_warnings (
  scope text not null,
  month date not null,
  percent integer not null,
  told_at timestamptz not null default clock_timestamp(),
  primary key (scope, month, percent)
);

-- Text on a page, and the lines of code that it relies on. Claims are checked again after every new commit of either.
create table claims (
  id text primary key default 'clm_' || replace(gen_random_uuid()::text, '-', ''),
  project_id text not null references projects (id) on delete cascade,
  page text not null,
  page_line integer not null,
  page_line_end integer not null,
  -- The text of the claim. Null: not read yet.
  page_text text,
  page_blob text,
  -- Null: the project's own repository.
  repository_id text references context_repositories (id) on delete cascade,
  path text not null,
  line integer not null,
  line_end integer not null,
  -- The cited lines, their hash, the symbol around them, and the last commit at which they were seen unchanged.
  text text,
  hash bytea,
  symbol text,
  commit_id text,
  -- The file's blob id at the last check: equal ids mean equal bytes.
  blob text,
  state text not null default 'new' check (state in ('new', 'same', 'changed', 'gone')),
  -- If changed: path, line, lineEnd, text, symbol and blob of the current lines.
  found jsonb,
  -- The commit that changed or removed the lines: id, author, date, message, and pullRequest if its message names one.
  cause jsonb,
  problem text,
  changed_at timestamptz,
  job_id text references jobs (id) on delete set null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index claims_of_project on claims (project_id, page, page_line, id);
create index claims_of_job on claims (job_id) where job_id is not null;
create index claims_of_repository on claims (repository_id) where repository_id is not null;

-- The commits at which each project's claims were last checked, by mirror.
create table claim_looks (
  project_id text primary key references projects (id) on delete cascade,
  due_at timestamptz not null default clock_timestamp(),
  commits jsonb not null default '{}',
  problem text
);

-- Emend's statuses on pull requests: one per head, updated in place.
create table gate_statuses (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  -- The context repository of the pull request. Null: the docs repository.
  context_id text references context_repositories (id) on delete cascade,
  -- The forge and the address, so that two projects cannot use one name on the same commit.
  repository text not null,
  head text not null,
  name text not null,
  number integer not null,
  pull jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'passed', 'neutral', 'failed')),
  words text not null,
  findings jsonb not null default '[]',
  -- The input of the verdict. Null: not checked yet.
  judged_from text,
  judged_at timestamptz,
  -- The status that the forge last accepted. Null: none, or it must be sent again.
  sent text,
  -- The forge's error message, if it refused the status.
  refusal text,
  -- The job that opens the docs pull request.
  job_id text,
  comments_heard text[] not null default '{}',
  -- The lease: once another node takes it, a slow previous holder can write nothing.
  lease uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (repository, head, name)
);
create index gate_statuses_of_project on gate_statuses (project_id, updated_at desc);
create index gate_statuses_of_context on gate_statuses (context_id) where context_id is not null;
create index gate_statuses_of_job on gate_statuses (job_id) where job_id is not null;

-- When a repository's pull requests were last checked, and the error.
create table gate_looks (
  project_id text not null references projects (id) on delete cascade,
  -- Empty: the docs repository.
  context_id text not null default '',
  looked_at timestamptz not null default clock_timestamp(),
  not_before timestamptz,
  problem text,
  primary key (project_id, context_id)
);

-- The local forge's commit statuses.
create table local_statuses (
  project_id text not null references projects (id) on delete cascade,
  commit_id text not null,
  name text not null,
  state text not null check (state in ('pending', 'passed', 'neutral', 'failed')),
  words text not null,
  url text,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_id, commit_id, name),
  -- The last part of the log of a CI that reports to the local forge.
  log text
);

-- A GitHub App that somebody creates in the dashboard: from leaving for GitHub until a project uses the App.
create table github_app_setups (
  -- The id of the future project: the App's webhook URL contains it.
  project_id text primary key,
  -- GitHub's pages: https://github.com, or an Enterprise Server.
  origin text not null,
  -- The organization that will own the App. Null: the person.
  organization text,
  -- The browser session that began. Only it may bring GitHub's code back.
  session_hash bytea not null,
  -- The state that GitHub must return (CSRF). Null: none was sent yet, or it was used.
  state_hash bytea unique,
  expires_at timestamptz not null,
  -- What GitHub created. Null until then.
  name text,
  install_url text,
  credential bytea,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp()
);

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

-- Names on pages that a source no longer has. Found when the source changes; kept until the page or the source changes.
create table stale_references (
  project_id text not null references projects (id) on delete cascade,
  -- Null: code in the project's own repository.
  repository_id text references context_repositories (id) on delete cascade,
  page text not null,
  -- The reference as the page writes it, and the part of it that is missing.
  kind text not null,
  text text not null,
  gone text not null,
  renamed_to text,
  -- Some of the files that had it.
  paths jsonb not null,
  -- The commit that removed it: id, author, date, message, and pullRequest if its message names one. Null: unknown.
  cause jsonb,
  found_at timestamptz not null default clock_timestamp(),
  -- False: another package may have the name, so the finding is a warning.
  is_certain boolean not null default true
);
create unique index stale_references_once
  on stale_references (project_id, coalesce(repository_id, ''), page, kind, md5(text));
create index stale_references_of_repository on stale_references (repository_id) where repository_id is not null;

-- The commit of each source that the pages were last compared with. The project's own repository has the project's id.
create table reference_looks (
  project_id text not null references projects (id) on delete cascade,
  source_id text not null,
  commit_id text not null,
  primary key (project_id, source_id)
);

-- The usage page reads stored totals only, those of today included, which it has counted anew from time to time.
create table usage_today (
  -- Only one row.
  id boolean primary key default true check (id),
  day date not null,
  counted_at timestamptz not null,
  took_ms double precision not null
);

-- Which projects had the most jobs and the highest cost in the days before today, for the spans that the page offers. To add
-- up the days of thousands of projects takes long, so the page does it only for those that it shows.
create table usage_ranks (
  -- The span with today: 7 stands for the six days before today.
  days integer not null,
  project_id text not null,
  jobs integer not null,
  cost_usd double precision not null,
  -- The last day that is included.
  through date not null,
  primary key (days, project_id),
  -- The usage page adds up the days before today only once for each project, and not at each look.
  completed integer,
  failed integer,
  pull_requests integer,
  merged integer,
  input_tokens double precision,
  output_tokens double precision,
  timed integer,
  median_ms double precision
);
create index usage_ranks_by_jobs on usage_ranks (days, jobs desc);
create index usage_ranks_by_cost on usage_ranks (days, cost_usd desc);

-- What a worker found out about a project for `project doctor`, until it is fetched.
create table diagnoses (
  id text primary key,
  answer jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);

-- What a model said about a change of code and the docs, by what was asked: the same question costs nothing twice.
create table drift_answers (
  project_id text not null references projects (id) on delete cascade,
  -- The hash of the question and the model.
  key text not null,
  -- The pull request or push that paid for it.
  subject text not null,
  model text not null,
  answer jsonb not null,
  cost_usd double precision not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, key)
);
create index drift_answers_of_subject on drift_answers (project_id, subject);
create index drift_answers_by_age on drift_answers (created_at);

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

-- What an agent asked the person who wanted the change. The job waits without a lease until somebody says something, or until
-- `answer_until`.
create table job_questions (
  id bigint generated always as identity primary key,
  job_id text not null references jobs (id) on delete cascade,
  -- The step that asked.
  step integer,
  question text not null,
  options text[] not null default '{}',
  asked_at timestamptz not null default clock_timestamp(),
  answer_until timestamptz not null,
  unique (job_id, step),
  -- What the review asks about, in groups, without a step of the agent: may what Emend does not know on this site be
  -- published? Null: the agent's own question.
  constructs jsonb,
  -- approved, declined, or withdrawn by a message that continues the work.
  decision text,
  decided_by text,
  decided_at timestamptz
);

-- Emails to send, written with the job's end. A row is deleted when its email is sent.
create table job_emails (
  id text primary key,
  job_id text references jobs (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  tries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  -- An email about a question. Null: about the job's end.
  question_id bigint references job_questions (id) on delete cascade,
  project_id text,
  number integer,
  foreign key (project_id, number) references local_pull_requests (project_id, number) on delete cascade
);
create index job_emails_due on job_emails (due_at);
create index job_emails_of_job on job_emails (job_id);
create index job_emails_of_user on job_emails (user_id);
create index job_emails_of_question on job_emails (question_id);
create index job_emails_of_pull on job_emails (project_id, number);

-- Servers of the Model Context Protocol that a project's jobs may ask, and the tools that an owner allowed on them.
create table knowledge_servers (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  url text not null,
  -- Encrypted. Null: the server needs none.
  credential bytea,
  created_at timestamptz not null default now(),
  unique (project_id, name),
  -- Access to knowledge servers by OAuth. Encrypted: what Emend holds, and what it waits for while a person is at the server.
  -- renewing_until: one node at a time renews, since the token that renews may work only once.
  oauth bytea,
  connecting bytea,
  renewing_until timestamptz
);

create table knowledge_tools (
  server_id text not null references knowledge_servers (id) on delete cascade,
  name text not null,
  description text not null,
  input_schema jsonb not null,
  -- Of everything that the server said about the tool when it was allowed.
  hash text not null,
  allowed_at timestamptz not null default now(),
  primary key (server_id, name)
);

-- What the last look for lost workers found, on whichever node: of the processes that hold leases, those without a
-- connection, and since when.
create table lost_workers (
  only_row boolean primary key default true check (only_row),
  looked_at timestamptz not null default '-infinity',
  gone_since jsonb not null default '{}'
);
insert into lost_workers default values;

-- What people said to Emend in a chat. The same event, delivered twice, is one row.
create table chat_messages (
  id text primary key,
  chat text not null,
  channel text not null,
  thread text not null,
  message text not null,
  author text not null,
  -- Null once it was handled: nothing else needs the words.
  said jsonb,
  received_at timestamptz not null default clock_timestamp(),
  handled_at timestamptz,
  unique (chat, channel, message)
);
create index chat_messages_waiting on chat_messages (chat, channel, thread) where handled_at is null;
create index chat_messages_received on chat_messages (received_at);

-- A thread in which Emend was spoken to, and the job that it is about.
create table chat_threads (
  id text primary key,
  chat text not null,
  channel text not null,
  thread text not null,
  -- Null: no job was started.
  job_id text references jobs (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  unique (chat, channel, thread)
);
create index chat_threads_of_job on chat_threads (job_id) where job_id is not null;

-- What Emend posts in a thread: one message for each key, which is edited.
create table chat_posts (
  id text primary key,
  thread_id text not null references chat_threads (id) on delete cascade,
  -- `status/<job>/<round>`, `question/<id>` or `reply/<message>`.
  key text not null,
  -- Of a reply. The rest is made of the job.
  words text,
  -- The chat's id. Null: not posted, or the answer to the post was lost.
  message text,
  -- What the chat accepted last.
  shown jsonb,
  -- When it was sent for the first time: from then on, it is looked for before it is posted.
  begun_at timestamptz,
  unique (thread_id, key)
);

-- An account of a chat that an administrator linked to a member.
create table chat_accounts (
  chat text not null,
  account text not null,
  user_id text not null references users (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (chat, account)
);
create index chat_accounts_of_user on chat_accounts (user_id);

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

-- Words that people replaced in what jobs had proposed, before they merged it.
create table review_lessons (
  project_id text not null references projects (id) on delete cascade,
  job_id text not null references jobs (id) on delete cascade,
  path text not null,
  replaced text not null,
  by_text text not null,
  -- The word behind it, in both texts.
  next_word text not null,
  primary key (job_id, kind, replaced, by_text),
  -- Lessons are also sentences that reviewers wrote, and files of pull requests that people closed.
  kind text not null default 'words'
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
  primary key (job_id, path, width, side),
  -- Whoever has the link sees the picture: it stands in the text of a pull request.
  link uuid not null default gen_random_uuid(),
  -- The page as one document without scripts, compressed with gzip. Of wide pictures alone.
  page bytea
);
-- Compressed already.
alter table page_pictures alter column webp set storage external;
create unique index page_pictures_by_link on page_pictures (link);
alter table page_pictures alter column page set storage external;

-- What the authorization server keeps: requests for consent, codes and tokens. Ids are hashes, except a token's own.
create table oauth_records (
  id text primary key,
  model text not null,
  -- Null until somebody consented.
  key_id text references admin_keys (id) on delete cascade,
  -- Of an access token.
  secret_hash bytea,
  payload jsonb not null,
  consumed_at timestamptz,
  expires_at timestamptz not null
);
create index oauth_records_by_key on oauth_records (key_id) where key_id is not null;
create index oauth_records_by_expiry on oauth_records (expires_at);

-- An authenticator app's key, sealed, and the last time step that was used: no code works twice.
create table authenticator_apps (
  user_id text primary key references users (id) on delete cascade,
  secret bytea not null,
  last_step bigint not null,
  created_at timestamptz not null default clock_timestamp()
);

-- Deleted when they are used.
create table recovery_codes (
  code_hash bytea primary key,
  user_id text not null references users (id) on delete cascade
);
create index recovery_codes_by_user on recovery_codes (user_id);

-- Logins that wait for a second factor. They open nothing.
create table pending_logins (
  token_hash bytea primary key,
  user_id text not null references users (id) on delete cascade,
  opened_by text not null,
  expires_at timestamptz not null
);
create index pending_logins_by_user on pending_logins (user_id);

-- A passkey belongs to one person: its id is the authenticator's.
create table passkeys (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  name text not null,
  public_key bytea not null,
  -- How often the authenticator signed. Always 0 for those that do not count.
  counter bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
create index passkeys_by_user on passkeys (user_id);

-- What passkeys are asked to sign. Deleted when it is used.
create table passkey_challenges (
  challenge_hash bytea primary key,
  purpose text not null,
  user_id text references users (id) on delete cascade,
  address text not null,
  expires_at timestamptz not null
);
create index passkey_challenges_by_address on passkey_challenges (address);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

-- A directory of people and groups that an identity provider keeps here (SCIM 2.0).
create table directory_tokens (
  id text primary key,
  secret_hash bytea not null,
  -- The first characters, to recognize it.
  hint text not null,
  name text not null,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  revoked_at timestamptz
);

create table directory_users (
  id text primary key,
  user_name text not null,
  external_id text,
  -- The member's address and name, read from the attributes.
  email text not null,
  name text not null,
  active boolean not null,
  -- What the provider sent of `name`, `displayName` and `emails`.
  attributes jsonb not null,
  -- The member, while the person has access.
  user_id text unique references users (id) on delete set null,
  -- Whether a group gave the role. If none did, an owner may change it.
  role_by_group boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create unique index directory_users_by_name on directory_users (lower(user_name));
create unique index directory_users_by_email on directory_users (lower(email));
create index directory_users_by_external_id on directory_users (external_id);

create table directory_groups (
  id text primary key,
  display_name text not null,
  external_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create unique index directory_groups_by_name on directory_groups (lower(display_name));
create index directory_groups_by_external_id on directory_groups (external_id);

create table directory_group_members (
  group_id text not null references directory_groups (id) on delete cascade,
  user_id text not null references directory_users (id) on delete cascade,
  primary key (group_id, user_id)
);
create index directory_group_members_by_user on directory_group_members (user_id);

-- Requests to a SAML provider that were answered: each logs somebody in once, on whichever node.
create table saml_logins (
  request_id text primary key,
  expires_at timestamptz not null
);
create index saml_logins_by_expiry on saml_logins (expires_at);

-- Servers that the console named: repositories are read there on loopback and private networks too. What people enter in
-- the browser is checked at every call. Until now, each project said which of the two it was.
create table trusted_origins (
  origin text primary key,
  created_at timestamptz not null default clock_timestamp()
);

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
