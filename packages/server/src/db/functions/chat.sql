-- A thread shows its job: what it does, asks and did. Each change makes the thread due, together with the change.
create or replace function show_chats() returns trigger language plpgsql as $$
begin
  perform ask_task('show_chat', id) from chat_threads where job_id = new.id;
  return null;
end $$;

create or replace trigger chat_job_changed after update of pull_request, status, waiting_since, waiting_for on jobs
  for each row when ((old.pull_request, old.status, old.waiting_since, old.waiting_for)
    is distinct from (new.pull_request, new.status, new.waiting_since, new.waiting_for))
  execute function show_chats();

-- Stores what a person said, once, and makes its thread due. False: it was delivered before.
create or replace function hear_chat(heard_id text, heard_chat text, heard_channel text, heard_thread text, heard_message text,
  heard_author text, heard_said jsonb) returns boolean language plpgsql as $$
begin
  insert into chat_messages (id, chat, channel, thread, message, author, said)
    values (heard_id, heard_chat, heard_channel, heard_thread, heard_message, heard_author, heard_said)
    on conflict (chat, channel, message) do nothing;
  if not found then
    return false;
  end if;
  perform ask_task('hear_chat', heard_chat || '/' || heard_channel || '/' || heard_thread);
  return true;
end $$;

-- Whoever writes there can start jobs as this member.
create or replace function audit_chat_account() returns trigger language plpgsql as $$
begin
  perform audit('member.identity', users.id, jsonb_build_object('email', email, 'account', said.chat || '/' || said.account,
    'linked', tg_op <> 'DELETE'))
  from (select (case when tg_op = 'DELETE' then old else new end).*) said join users on users.id = said.user_id;
  return null;
end $$;

create or replace trigger chat_account_audited after insert or update or delete on chat_accounts
  for each row execute function audit_chat_account();
