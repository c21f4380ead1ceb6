-- Times as the wire shows them: UTC, milliseconds, cut off and never rounded up.
create or replace function wire_time(at timestamptz) returns text stable language sql
  return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- The job as the wire shows it: the nine fields of jobs/wire-job.ts.
create or replace function wire_job(job jobs) returns jsonb stable language sql
  return jsonb_build_object(
    'id', job.id,
    'status', job.status,
    'source', jsonb_build_object('repository', job.repository_url, 'ref', job.ref),
    'model', job.model,
    'prLink', case when job.status <> 'active' then job.pr_link end,
    'createdAt', wire_time(job.created_at),
    'archivedAt', wire_time(job.archived_at));
