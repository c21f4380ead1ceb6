-- What is done once across all nodes: housekeeping by the clock, and what somebody asked for.
create table tasks (
  kind text not null,
  -- What it is about, such as a project's id; empty: there is one of its kind.
  subject text not null default '',
  due_at timestamptz not null,
  -- How often it was asked for: what is asked for again while it runs is done again.
  asked integer not null default 0,
  tries integer not null default 0,
  lease uuid,
  held_until timestamptz,
  primary key (kind, subject)
);
create index tasks_due on tasks (due_at);

-- The queue of earlier releases, another program's schema. What was asked for and not begun is kept.
do $$
begin
  if to_regclass('emend_tasks._private_jobs') is not null then
    execute $move$
      insert into tasks (kind, subject, due_at)
      select 'check_site', substr(key, length('check_site/') + 1), clock_timestamp()
      from emend_tasks._private_jobs where key like 'check\_site/%'
      on conflict do nothing
    $move$;
  end if;
  drop schema if exists emend_tasks cascade;
end $$;
