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
