-- The last part of the log of a CI that reports to the local forge.
alter table local_statuses add column log text;
