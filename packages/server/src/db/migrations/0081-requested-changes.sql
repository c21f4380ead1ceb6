-- A comment that is the text of a review which requests changes: Emend acts on it without a mention.
alter table local_pull_request_comments add column requests_changes boolean not null default false;
