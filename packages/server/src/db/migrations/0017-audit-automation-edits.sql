-- What an automation asks for, and when, is changed by somebody, too.
create function audit_automation_edit() returns trigger language plpgsql as $$
begin
  perform audit('automation.changed', new.project_id, jsonb_build_object('name', new.name));
  return null;
end $$;
create trigger automation_edit_audited after update of name, trigger, prompt, model on automations
  for each row when ((old.name, old.trigger, old.prompt, old.model) is distinct from (new.name, new.trigger, new.prompt, new.model))
  execute function audit_automation_edit();
