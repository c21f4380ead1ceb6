-- False: another package may have the name, so the finding is a warning.
alter table stale_references add column is_certain boolean not null default true;
