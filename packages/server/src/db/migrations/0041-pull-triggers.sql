-- A pull request trigger stores the last state of each open pull request: after a merge, it is in no list any more.
alter table automation_refs add column details jsonb;
