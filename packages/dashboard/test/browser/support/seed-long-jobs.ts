import { deflateSync } from "node:zlib";
import type { Pool } from "../../../../server/src/db/pool.ts";
import { addJob, tellJob } from "./tell-job.ts";

const stepsCount = 1_000;

/** One that is at work, and one with a thousand steps, a diff of five thousand lines and a finding in it. */
export async function seedLongJobs(
  db: Pool,
  { projectId, otherId }: { projectId: string; otherId: string },
): Promise<readonly [runningId: string, longId: string]> {
  const runningId = await addJob(
    db,
    projectId,
    "Say in the quickstart how a message is retried, and link to the guide.",
  );
  for (const event of running) await tellJob(db, runningId, event);
  await db.query("update jobs set phase = 'working', model = 'anthropic/claude-opus' where id = $1", [runningId]);

  const longId = await addJob(db, otherId, "Replace “API token” by “access key” on every page of the handbook.");
  await db.query(
    `insert into job_events (job_id, seq, kind, data)
     select $1, n + 1, 'step', jsonb_build_object('number', n, 'text', 'Looking at page ' || n, 'tools', jsonb_build_array(
       jsonb_build_object('name', 'read_file', 'input', jsonb_build_object('path', 'p' || n || '.md'), 'ok', n % 9 > 0)))
     from generate_series(1, $2::int) n`,
    [longId, stepsCount],
  );
  await db.query(
    `update jobs set status = 'failed', failure_code = 'budget_exceeded', ended_at = clock_timestamp(),
       failure_message = 'The job stopped after 1000 steps: that is all the project allows.',
       event_seq = $2, diff = $3, findings = $4, usage = '{"inputTokens": 48233, "outputTokens": 3211, "costUsd": 0.98}'
     where id = $1`,
    [longId, stepsCount + 1, deflateSync(diff), JSON.stringify(findings)],
  );
  return [runningId, longId];
}

const running = [
  { kind: "run.started", data: { run: 1 } },
  { kind: "phase", data: { phase: "preparing" } },
  { kind: "phase", data: { phase: "working" } },
  {
    kind: "step",
    data: {
      number: 1,
      text: "The quickstart says nothing of retries; guides/retries has all of it.",
      tools: [
        { name: "search", input: { text: "retry" }, ok: true },
        { name: "read_file", input: { path: "quickstart.mdx" }, ok: true },
      ],
    },
  },
  {
    kind: "step",
    data: {
      number: 2,
      text: "",
      tools: [
        { name: "edit_file", input: { path: "quickstart.mdx", before: "## Next", after: "## Retries" }, ok: false },
      ],
    },
  },
] as const;

const files = ["guide/tokens-and-everything-that-one-would-ever-want-to-know-about-them.md", "reference.md"];
const diff = `${files.flatMap(fileDiff).join("\n")}\n`;

function fileDiff(path: string): readonly string[] {
  const lines = Array.from({ length: 125 }, (_, piece) => [
    ...Array.from({ length: 10 }, (_, line) => `-Line ${piece * 10 + line}: an API token is sent with each request.`),
    ...Array.from({ length: 10 }, (_, line) => `+Line ${piece * 10 + line}: an access key is sent with each request.`),
  ]).flat();
  return [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`, "@@ -1,1250 +1,1250 @@", ...lines];
}

const finding = {
  check: "broken-anchor",
  severity: "error",
  path: files[0],
  line: 3,
  message: "No heading on `reference.md` has the id `access-keys`; correct the fragment or give the heading that id.",
};
const findings = { findingsBefore: 2, findingsAfter: 3, introduced: [finding], fixed: [] };
