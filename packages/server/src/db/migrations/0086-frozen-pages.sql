-- The page as one document without scripts, compressed with gzip. Of wide pictures alone.
alter table page_pictures add column page bytea;
alter table page_pictures alter column page set storage external;
