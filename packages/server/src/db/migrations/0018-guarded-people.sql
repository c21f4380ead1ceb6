-- Whoever was removed: no domain lets them back in until they are invited again. By triggers, so that no way of
-- removing somebody leaves it out.
create table removed_members (
  email text primary key,
  identity text,
  removed_at timestamptz not null default clock_timestamp()
);
create index removed_members_by_identity on removed_members (identity) where identity is not null;
insert into removed_members (email, removed_at)
  select lower(details ->> 'email'), max(at) from audit_log
  where action = 'member.removed' and details ->> 'email' is not null
    and not exists (select from users where lower(users.email) = lower(details ->> 'email'))
  group by 1;

-- A webhook's address is often a secret: sealed with EMEND_SECRET here, and `url` keeps what may be shown of it. Null: it
-- was written by a release that did not seal, and is sealed at the next start.
alter table webhooks add column sealed_url bytea;
