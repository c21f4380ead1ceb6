-- What nodes remember of a project is forgotten when it changes, whoever changes it.
create or replace function notify_project_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('emend_project_changed', new.id);
  return null;
end $$;

create or replace trigger project_changed after update on projects for each row execute function notify_project_changed();
