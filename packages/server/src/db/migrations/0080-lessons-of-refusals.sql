-- Lessons are also sentences that reviewers wrote, and files of pull requests that people closed.
-- functions: 9fdddb355db16aac
alter table review_lessons add column kind text not null default 'words';
alter table review_lessons drop constraint review_lessons_pkey, add primary key (job_id, kind, replaced, by_text);
drop index jobs_with_lessons;
create index jobs_with_lessons on jobs (project_id) where not lessons_read and pull_request ->> 'state' in ('merged', 'closed');
