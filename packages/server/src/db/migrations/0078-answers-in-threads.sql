-- The comment that a message came from, and what its round ended with. Its answer is sent from these.
-- functions: 789a1bfcaa55677c
alter table job_messages add column comment_id text, add column outcome jsonb;
