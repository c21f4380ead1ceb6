-- The diff so far of an active job, for people who watch it; deflated. It is deleted when the job ends: the reviewed diff stays.
alter table jobs add column working_diff bytea;

-- Who cancelled the job: `user/…` or `key/…`. Null: it was not cancelled, or an older release did not record who did.
alter table jobs add column cancelled_by text;
