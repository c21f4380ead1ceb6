-- Servers that the console named: repositories are read there on loopback and private networks too. What people enter in
-- the browser is checked at every call. Until now, each project said which of the two it was.
create table trusted_origins (
  origin text primary key,
  created_at timestamptz not null default clock_timestamp()
);
insert into trusted_origins (origin)
  select distinct lower(origin) from projects,
    lateral (values
      (substring(repository_url from '^https?://[^/?#]+')),
      (substring(settings #>> '{forge,apiUrl}' from '^https?://[^/?#]+'))
    ) as named (origin)
  where forge <> 'local' and origin is not null and settings #>> '{forge,isJudged}' is distinct from 'true';
