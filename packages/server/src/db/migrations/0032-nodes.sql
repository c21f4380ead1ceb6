-- The running processes of the installation, each with its last sign of life. A process that stops takes its row away.
create table nodes (
  id text primary key,
  host text not null,
  role text not null,
  version text not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
