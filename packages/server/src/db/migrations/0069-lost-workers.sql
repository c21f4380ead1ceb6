-- A renewed lease changes one row in place: its time is in no index.
create index jobs_held on jobs (project_id) where lease is not null;
drop index jobs_leased;
alter table jobs set (fillfactor = 85);

-- What the last look for lost workers found, on whichever node: of the processes that hold leases, those without a
-- connection, and since when.
create table lost_workers (
  only_row boolean primary key default true check (only_row),
  looked_at timestamptz not null default '-infinity',
  gone_since jsonb not null default '{}'
);
insert into lost_workers default values;
