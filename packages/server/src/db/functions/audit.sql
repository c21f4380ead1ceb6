-- Triggers write the log, so that no way of changing something can leave it out and none can commit without it. Who acts
-- is said once a transaction (db/acting.ts).
create or replace function audit(p_action text, p_target text, p_details jsonb, p_actor text default null) returns void
language sql as $$
  insert into audit_log (actor, address, action, target, details)
  select coalesce(nullif(current_setting('emend.actor', true), ''), p_actor, 'system'),
    nullif(current_setting('emend.address', true), ''), p_action, p_target, p_details
  -- An archive that is restored brings its own log.
  where coalesce(current_setting('emend.audit', true), '') <> 'off'
$$;

create or replace function audit_key() returns trigger language plpgsql as $$
declare about jsonb := jsonb_build_object('name', new.name, 'key', new.hint);
begin
  if tg_op = 'INSERT' then
    perform audit('key.created', new.id,
      about || jsonb_strip_nulls(jsonb_build_object(
        'scope', new.scope, 'projects', new.project_ids, 'expires', wire_time(new.expires_at))),
      new.created_by);
  elsif old.revoked_at is null and new.revoked_at is not null then
    perform audit('key.revoked', new.id, about);
  elsif (old.name, old.scope, old.project_ids, old.expires_at, old.allow_list)
    is distinct from (new.name, new.scope, new.project_ids, new.expires_at, new.allow_list) then
    perform audit('key.changed', new.id, about);
  end if;
  return null;
end $$;

create or replace trigger key_audited after insert or update of name, scope, project_ids, expires_at, allow_list, revoked_at
  on admin_keys for each row execute function audit_key();

create or replace function audit_project() returns trigger language plpgsql as $$
declare changed text[];
begin
  if tg_op = 'DELETE' then
    perform audit('project.removed', old.id, jsonb_build_object('name', old.name));
  elsif tg_op = 'INSERT' then
    perform audit('project.added', new.id,
      jsonb_build_object('name', new.name, 'forge', new.forge, 'repository', new.repository_url));
  else
    select array_agg(field order by field) into changed from (
      select field from (values
        ('name', old.name is distinct from new.name),
        ('base branch', old.base_ref is distinct from new.base_ref),
        ('docs folder', old.docs_dir is distinct from new.docs_dir),
        ('credential', old.credential is distinct from new.credential),
        -- The local forge's address is this installation's, and follows it.
        ('repository', old.repository_url is distinct from new.repository_url and new.forge <> 'local')
      ) fields (field, is_changed) where is_changed
      union all
      select coalesce(before.key, after.key)
      from jsonb_each(old.settings) before full join jsonb_each(new.settings) after using (key)
      where before.value is distinct from after.value
    ) changes;
    if changed is not null then
      perform audit('project.changed', new.id, jsonb_build_object('name', new.name, 'changed', changed));
    end if;
  end if;
  return null;
end $$;

create or replace trigger project_audited after insert or delete or update of name, base_ref, docs_dir, credential, repository_url,
  settings on projects for each row execute function audit_project();

create or replace function audit_allowed_construct() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    -- Of a project that was removed, only that is logged.
    perform audit('construct.removed', old.project_id, jsonb_build_object('construct', old.key))
      from projects where id = old.project_id;
  else
    perform audit('construct.allowed', new.project_id,
      jsonb_build_object('construct', new.key, 'job', new.job_id), new.allowed_by);
  end if;
  return null;
end $$;

create or replace trigger allowed_construct_audited after insert or delete on allowed_constructs
  for each row execute function audit_allowed_construct();

create or replace function audit_user() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform audit('member.removed', old.id, jsonb_build_object('email', old.email, 'role', old.role));
  elsif tg_op = 'INSERT' then
    perform audit('member.added', new.id, jsonb_build_object('email', new.email, 'role', new.role), new.email);
  else
    if old.role <> new.role then
      perform audit('member.role', new.id, jsonb_build_object('email', new.email, 'from', old.role, 'to', new.role));
    end if;
    if old.password_hash is distinct from new.password_hash then
      perform audit('member.password', new.id, jsonb_build_object('email', new.email), new.email);
    end if;
    if old.identity is distinct from new.identity then
      perform audit('member.identity', new.id, jsonb_build_object('email', new.email), new.email);
    end if;
  end if;
  return null;
end $$;

create or replace trigger user_audited after insert or delete or update of role, password_hash, identity on users
  for each row execute function audit_user();

create or replace function audit_app() returns trigger language plpgsql as $$
declare about authenticator_apps := case when tg_op = 'DELETE' then old else new end;
begin
  -- Nobody is found whose removal takes it along.
  perform audit(case when tg_op = 'DELETE' then 'factor.removed' else 'factor.added' end, id,
    jsonb_build_object('email', email, 'factor', 'authenticator app')) from users where id = about.user_id;
  return null;
end $$;

create or replace trigger app_audited after insert or delete on authenticator_apps
  for each row execute function audit_app();

create or replace function audit_passkey() returns trigger language plpgsql as $$
declare about passkeys := case when tg_op = 'DELETE' then old else new end;
begin
  perform audit(case tg_op when 'DELETE' then 'factor.removed' when 'INSERT' then 'factor.added' else 'factor.renamed' end, id,
    jsonb_build_object('email', email, 'factor', 'passkey', 'name', about.name)) from users where id = about.user_id;
  return null;
end $$;

create or replace trigger passkey_audited after insert or delete or update of name on passkeys
  for each row execute function audit_passkey();

create or replace function audit_link() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform audit('invitation.revoked', null, jsonb_build_object('email', old.email, 'role', old.role));
  elsif new.purpose = 'invite' then
    perform audit('invitation.created', null, jsonb_build_object('email', new.email, 'role', new.role));
  elsif new.purpose = 'reset' then
    perform audit('password_link.created', new.user_id, jsonb_build_object('email', new.email));
  elsif new.purpose = 'login' then
    perform audit('login_link.created', null, '{}');
  end if;
  return null;
end $$;

create or replace trigger link_audited after insert on login_links for each row execute function audit_link();

create or replace trigger invitation_audited after delete on login_links for each row
  when (old.purpose = 'invite' and old.used_at is null and old.expires_at > clock_timestamp())
  execute function audit_link();

create or replace function audit_setting() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform audit('setting.changed', old.name, jsonb_build_object('from', old.value));
  else
    perform audit('setting.changed', new.name, jsonb_build_object('to', new.value));
  end if;
  return null;
end $$;

create or replace trigger setting_audited after insert or update or delete on settings
  for each row execute function audit_setting();

-- The host alone: the rest of such an address is often a secret.
create or replace function audit_webhook() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform audit('webhook.removed', old.id, jsonb_build_object('project', old.project_id, 'host', substring(old.url from '//([^/?#]*)')));
  elsif tg_op = 'INSERT' then
    perform audit('webhook.added', new.id, jsonb_build_object('project', new.project_id, 'host', substring(new.url from '//([^/?#]*)')));
  elsif (old.disabled_at is null) <> (new.disabled_at is null) then
    perform audit(case when new.disabled_at is null then 'webhook.enabled' else 'webhook.disabled' end, new.id,
      jsonb_build_object('project', new.project_id, 'host', substring(new.url from '//([^/?#]*)')));
  end if;
  return null;
end $$;

create or replace trigger webhook_audited after insert or delete or update of disabled_at on webhooks
  for each row execute function audit_webhook();

create or replace function audit_model_key() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    perform audit('model_key.removed', old.project_id, jsonb_build_object('vendor', old.vendor));
  else
    perform audit('model_key.set', new.project_id, jsonb_build_object('vendor', new.vendor));
  end if;
  return null;
end $$;

create or replace trigger model_key_audited after insert or update or delete on model_keys
  for each row execute function audit_model_key();

create or replace function audit_pull_request() returns trigger language plpgsql as $$
begin
  perform audit('pull_request.' || new.state, new.project_id,
    jsonb_build_object('number', new.number, 'title', left(new.title, 200)), new.merged_by);
  return null;
end $$;

create or replace trigger pull_request_audited after update of state on local_pull_requests for each row
  when (new.state is distinct from old.state and new.state in ('merged', 'closed'))
  execute function audit_pull_request();

-- What a project reads and what it asks for by itself are changes that somebody made, too.
create or replace function audit_context_repository() returns trigger language plpgsql as $$
declare about context_repositories := case when tg_op = 'DELETE' then old else new end;
begin
  perform audit(case when tg_op = 'DELETE' then 'context.removed' else 'context.added' end, about.project_id,
    jsonb_build_object('name', about.name, 'repository', about.repository_url));
  return null;
end $$;

create or replace trigger context_repository_audited after insert or delete on context_repositories
  for each row execute function audit_context_repository();

create or replace function audit_automation() returns trigger language plpgsql as $$
declare about automations := case when tg_op = 'DELETE' then old else new end;
begin
  perform audit(
    case tg_op when 'DELETE' then 'automation.removed' when 'INSERT' then 'automation.added'
      else case when new.paused_at is null then 'automation.resumed' else 'automation.paused' end end,
    about.project_id, jsonb_build_object('name', about.name), case when tg_op = 'INSERT' then new.created_by end);
  return null;
end $$;

create or replace trigger automation_audited after insert or delete on automations
  for each row execute function audit_automation();

create or replace trigger automation_pause_audited after update of paused_at on automations
  for each row when ((old.paused_at is null) <> (new.paused_at is null)) execute function audit_automation();

-- What an automation asks for, and when, is changed by somebody, too.
create or replace function audit_automation_edit() returns trigger language plpgsql as $$
begin
  perform audit('automation.changed', new.project_id, jsonb_build_object('name', new.name));
  return null;
end $$;

create or replace trigger automation_edit_audited after update of name, trigger, prompt, model on automations
  for each row when ((old.name, old.trigger, old.prompt, old.model) is distinct from (new.name, new.trigger, new.prompt, new.model))
  execute function audit_automation_edit();

create or replace function audit_webhook_rotation() returns trigger language plpgsql as $$
begin
  perform audit('webhook.rotated', new.id, jsonb_build_object('project', new.project_id, 'host', substring(new.url from '//([^/?#]*)')));
  return null;
end $$;

create or replace trigger webhook_rotation_audited after update of old_secret_until on webhooks
  for each row execute function audit_webhook_rotation();
