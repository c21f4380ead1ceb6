-- How much a change touches: lists show it without unpacking every diff. Null where nothing was recorded yet.
alter table jobs add column diff_figures jsonb;

-- The dashboard lists the jobs of all projects together.
create index jobs_of_all_projects_by_status on jobs (status, id desc);
