-- A second request before it starts has no effect.
create or replace function ask_task(asked_kind text, asked_subject text, asked_words text default null) returns void language sql as $$
  insert into tasks (kind, subject, words, due_at) values (asked_kind, asked_subject, asked_words, clock_timestamp())
  on conflict (kind, subject) do update set asked = tasks.asked + 1, words = excluded.words,
    due_at = greatest(excluded.due_at, tasks.not_before);
  select pg_notify('emend_task_due', '');
$$;
