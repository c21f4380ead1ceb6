-- Where a process keeps its mirrors: the same number after a restart. Null: it takes no jobs, or is of an older release.
alter table nodes add column home integer;
-- All its slots are in use.
alter table nodes add column is_full boolean not null default false;
