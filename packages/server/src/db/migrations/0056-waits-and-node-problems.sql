-- What a waiting job waits for, and why a process takes no jobs.
alter table jobs add column waiting_for text not null default 'forge';
alter table nodes add column problem text;
