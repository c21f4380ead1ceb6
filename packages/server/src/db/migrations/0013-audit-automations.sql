-- What a project reads and what it asks for by itself are changes that somebody made, too.
create function audit_context_repository() returns trigger language plpgsql as $$
declare about context_repositories := case when tg_op = 'DELETE' then old else new end;
begin
  perform audit(case when tg_op = 'DELETE' then 'context.removed' else 'context.added' end, about.project_id,
    jsonb_build_object('name', about.name, 'repository', about.repository_url));
  return null;
end $$;
create trigger context_repository_audited after insert or delete on context_repositories
  for each row execute function audit_context_repository();

create function audit_automation() returns trigger language plpgsql as $$
declare about automations := case when tg_op = 'DELETE' then old else new end;
begin
  perform audit(
    case tg_op when 'DELETE' then 'automation.removed' when 'INSERT' then 'automation.added'
      else case when new.paused_at is null then 'automation.resumed' else 'automation.paused' end end,
    about.project_id, jsonb_build_object('name', about.name), case when tg_op = 'INSERT' then new.created_by end);
  return null;
end $$;
create trigger automation_audited after insert or delete on automations
  for each row execute function audit_automation();
create trigger automation_pause_audited after update of paused_at on automations
  for each row when ((old.paused_at is null) <> (new.paused_at is null)) execute function audit_automation();
