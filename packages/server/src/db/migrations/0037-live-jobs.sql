-- The diff so far of an active job, for people who watch it; deflated. It is deleted when the job ends: the reviewed diff stays.
alter table jobs add column working_diff bytea;
create function drop_working_diff() returns trigger language plpgsql as $$
begin
  new.working_diff := null;
  return new;
end $$;
create trigger jobs_drop_working_diff before update of status on jobs
  for each row when (new.status <> 'active' and new.working_diff is not null) execute function drop_working_diff();

-- Who cancelled the job: `user/…` or `key/…`. Null: it was not cancelled, or an older release did not record who did.
alter table jobs add column cancelled_by text;
