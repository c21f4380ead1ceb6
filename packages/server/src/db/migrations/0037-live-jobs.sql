-- The change so far of an active job, for those who watch; deflated. It ends with the job: the diff that was reviewed stays.
alter table jobs add column working_diff bytea;
create function drop_working_diff() returns trigger language plpgsql as $$
begin
  new.working_diff := null;
  return new;
end $$;
create trigger jobs_drop_working_diff before update of status on jobs
  for each row when (new.status <> 'active' and new.working_diff is not null) execute function drop_working_diff();

-- Who cancelled it: `user/…` or `key/…`. Null: nobody did, or an older release did not note it.
alter table jobs add column cancelled_by text;
