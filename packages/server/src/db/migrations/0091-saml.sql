-- Requests to a SAML provider that were answered: each logs somebody in once, on whichever node.
create table saml_logins (
  request_id text primary key,
  expires_at timestamptz not null
);
create index saml_logins_by_expiry on saml_logins (expires_at);
