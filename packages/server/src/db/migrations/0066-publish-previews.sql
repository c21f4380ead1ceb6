-- A preview that somebody had published: its stored change is published as it is, without a model.
alter table jobs add column publishes_preview boolean not null default false;
