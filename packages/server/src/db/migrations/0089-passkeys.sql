-- A passkey belongs to one person: its id is the authenticator's.
-- functions: 1ec8ac43945a08b0
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
