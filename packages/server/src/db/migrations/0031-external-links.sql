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
