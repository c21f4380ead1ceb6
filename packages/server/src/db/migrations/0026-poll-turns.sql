-- How far the looks at pull requests with one token have spent its time, over all nodes and all projects that share the token.
create table poll_turns (
  credential_id text primary key,
  spent_until timestamptz not null
);
-- Whose turns a project's looks take: a digest, from which the token cannot be read. Null: no look has needed a token yet.
alter table projects add column poll_credential text;
