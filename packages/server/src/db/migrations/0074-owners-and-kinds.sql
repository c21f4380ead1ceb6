-- Whom CODEOWNERS names for the files of a change, and what kind of change it is, if it is one that can be merged by Emend.
alter table jobs add column code_owners jsonb, add column change_kind text;
