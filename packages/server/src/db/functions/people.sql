create or replace function remember_removed() returns trigger language plpgsql as $$
begin
  insert into removed_members (email, identity) values (lower(old.email), old.identity)
    on conflict (email) do update
      set identity = coalesce(excluded.identity, removed_members.identity), removed_at = clock_timestamp();
  return null;
end $$;

create or replace trigger removed_remembered after delete on users for each row execute function remember_removed();

create or replace function forget_removed() returns trigger language plpgsql as $$
begin
  delete from removed_members where email = lower(new.email) or identity = new.identity;
  return null;
end $$;

create or replace trigger removed_forgotten after insert or update of identity on users
  for each row execute function forget_removed();

-- Programs that a person connected lose access with the person.
create or replace function revoke_keys_of_removed() returns trigger language plpgsql as $$
begin
  update admin_keys set revoked_at = clock_timestamp() where user_id = old.id and revoked_at is null;
  return null;
end $$;

create or replace trigger removed_disconnected after delete on users
  for each row execute function revoke_keys_of_removed();
