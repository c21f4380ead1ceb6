-- The usage page adds up the days before today only once for each project, and not at each look. Null in rows of earlier versions.
alter table usage_ranks
  add column completed integer,
  add column failed integer,
  add column pull_requests integer,
  add column merged integer,
  add column input_tokens double precision,
  add column output_tokens double precision,
  add column timed integer,
  add column median_ms double precision;
