-- A pull request trigger remembers each open pull request as it last was: once merged, no list has it any more.
alter table automation_refs add column details jsonb;
