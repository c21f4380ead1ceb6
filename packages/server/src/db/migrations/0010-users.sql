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
  last_login_at timestamptz
);
create unique index users_by_email on users (lower(email));

-- A session is a person's, or the console's where a link of the console opened it. It ends with the person.
alter table sessions add column user_id text references users (id) on delete cascade;
create index sessions_of_user on sessions (user_id);
update sessions set subject = 'console';

-- Every single-use link: to log in, to become the owner, to accept an invitation, to set a new password.
alter table login_links
  add column purpose text not null default 'login' check (purpose in ('login', 'owner', 'invite', 'reset')),
  -- The owner's link is derived from this and EMEND_SECRET, so that every node prints the same one.
  add column seed bytea,
  add column user_id text references users (id) on delete cascade,
  add column email text,
  add column role text check (role in ('owner', 'maintainer', 'viewer')),
  add column created_by text;
create unique index one_owner_link on login_links (purpose) where purpose = 'owner';

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
