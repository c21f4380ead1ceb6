-- Those who wrote the code that a job cites are asked for their review once.
-- functions: a5c71688794ebe79
alter table jobs add column authors_asked boolean not null default false;
