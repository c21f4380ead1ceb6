-- An authenticator app's key, sealed, and the last time step that was used: no code works twice.
-- functions: 2144891a354da422
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

-- When the person last showed a password or a factor. Null: by a release that did not write it.
alter table sessions add column proved_at timestamptz;
