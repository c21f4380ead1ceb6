-- Findings that a project's settings silence show their effect at once, on the health page and on pull requests.
create function silencers_changed() returns trigger language plpgsql as $$
begin
  insert into tasks (kind, subject, due_at) values ('check_site', new.id, clock_timestamp())
  on conflict (kind, subject) do update set asked = tasks.asked + 1, due_at = excluded.due_at;
  -- Also wakes the workers.
  perform ask_gate(new.id);
  return null;
end $$;
create trigger silencers_changed after update of settings on projects
  for each row when (old.settings -> 'checks' is distinct from new.settings -> 'checks')
  execute function silencers_changed();
