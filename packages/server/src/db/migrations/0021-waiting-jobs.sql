-- Since when a job with work to publish waits for its forge, and what the forge said. Null: it does not wait.
alter table jobs add column waiting_since timestamptz;
alter table jobs add column waiting_words text;
-- What did not work and did not fail the job, such as a label that the repository does not have.
alter table jobs add column notices jsonb not null default '[]';
