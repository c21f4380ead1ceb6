-- The dashboard lists projects page by page, oldest first.
create index projects_listed on projects (created_at, id);
