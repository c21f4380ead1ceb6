-- Servers of the Model Context Protocol that a project's jobs may ask, and the tools that an owner allowed on them.
create table knowledge_servers (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  url text not null,
  -- Encrypted. Null: the server needs none.
  credential bytea,
  created_at timestamptz not null default now(),
  unique (project_id, name)
);

create table knowledge_tools (
  server_id text not null references knowledge_servers (id) on delete cascade,
  name text not null,
  description text not null,
  input_schema jsonb not null,
  -- Of everything that the server said about the tool when it was allowed.
  hash text not null,
  allowed_at timestamptz not null default now(),
  primary key (server_id, name)
);
