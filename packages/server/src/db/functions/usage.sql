create or replace function note_usage_changed() returns trigger language plpgsql as $$
begin
  update usage_rolled_days set changed_at = clock_timestamp() where day = (new.created_at at time zone 'UTC')::date;
  return null;
end $$;

-- Jobs of today have not been rolled up yet.
create or replace trigger usage_changed after update of ended_at, failure_code, pull_request, usage, model on jobs for each row
  when ((new.created_at at time zone 'UTC')::date < (clock_timestamp() at time zone 'UTC')::date)
  execute function note_usage_changed();

create or replace function note_usage_gone() returns trigger language plpgsql as $$
begin
  update usage_rolled_days set changed_at = clock_timestamp()
    where day in (select (created_at at time zone 'UTC')::date from gone);
  return null;
end $$;

create or replace trigger usage_gone after delete on jobs referencing old table as gone for each statement
  execute function note_usage_gone();
