-- A key that a person's consent gave to a program (OAuth). It works only for the tokens below.
-- functions: 14cbed675cd3d441
alter table admin_keys add column user_id text;
-- The program's address: its client id metadata document.
alter table admin_keys add column client_id text;
alter table admin_keys add constraint admin_keys_of_programs check ((user_id is null) = (client_id is null));
create index admin_keys_by_user on admin_keys (user_id) where user_id is not null;

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
