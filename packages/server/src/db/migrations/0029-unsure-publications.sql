-- A job that was stopped while it waited for its forge: its pull request may have been opened by a request whose answer was lost.
alter table jobs add column publication_unsure boolean not null default false;
create index jobs_with_unsure_publication on jobs (pull_request_look_at nulls first) where publication_unsure;
