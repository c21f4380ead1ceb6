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
