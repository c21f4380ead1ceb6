-- Access to knowledge servers by OAuth. Encrypted: what Emend holds, and what it waits for while a person is at the server.
-- renewing_until: one node at a time renews, since the token that renews may work only once.
alter table knowledge_servers
  add column oauth bytea,
  add column connecting bytea,
  add column renewing_until timestamptz;
