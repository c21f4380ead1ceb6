import { deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import type { Pool } from "../../../../server/src/db/pool.ts";
import { sampleDocs } from "./sample-docs.ts";
import type { Installation } from "./start-installation.ts";
import { addJob, tellJob } from "./tell-job.ts";

export interface Seeded {
  projectId: string;
  /** The id of an empty project with a very long name. */
  otherId: string;
  /** Paths of a job with a large change, a failed one, one with a small change, and one whose pull request is merged. */
  jobPaths: readonly string[];
  /** The path of a running job. */
  runningPath: string;
  /** The path of a job with a thousand steps and a diff of five thousand lines. */
  longPath: string;
}

const prompts = [
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.',
  "Please make everything better <img src=x onerror=alert(1)>",
  "Fix broken links.",
  'Replace "Hold the answer back" with "Hold back the answer".',
];

/** Sample data of every kind: a project with a very long name, keys of several ages, jobs with several outcomes, a history. */
export async function seed({ server, pool }: Installation, page: Page): Promise<Seeded> {
  const { admin } = server;
  const { id: projectId } = await admin.addProject({ name: "Courier docs", forge: "local", repo: sampleDocs });
  const { id: otherId } = await admin.addProject({
    name: `The handbook of ${"a very long name, ".repeat(8)}`,
    forge: "local",
  });
  const soon = new Date(Date.now() + 5 * 24 * 60 * 60 * 1000);
  await admin.createKey({ projectIds: [projectId], name: "CI", scope: "write", expiresAt: soon });
  await admin.createKey({ projectIds: [projectId], name: "Status page", scope: "read", allowList: ["10.0.0.0/8"] });
  await admin.carryOut("webhooks.add", {
    projectId,
    url: "https://hooks.example.com/services/emend",
    events: ["job.completed"],
  });
  await admin.automations.add({
    projectId,
    name: "Links on Mondays",
    prompt: "Fix broken links. Report what is left by {{date}}.",
    trigger: { kind: "cron", expression: "0 9 * * 1", timezone: "Europe/Berlin" },
    createdBy: "ada@example.com",
  });
  await pool.query(people);
  const jobPaths: string[] = [];
  // As if a language model would take each: one is not understood.
  await page.route("**/reading", (route) => route.fulfill({ json: { kind: "free" } }));
  for (const prompt of prompts) {
    await page.goto(`${server.url}/app?project=${projectId}`);
    await page.getByLabel("What should change in the docs?").fill(prompt);
    await page.getByRole("button", { name: "Start job" }).click();
    await page.getByRole("button", { name: "Archive" }).waitFor({ timeout: 60_000 });
    jobPaths.push(new URL(page.url()).pathname);
  }
  await page.goto(`${server.url}/app/health?project=${projectId}`);
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByRole("figure").waitFor();
  await mergeLast(page, `${server.url}/app/pulls/${projectId}/3`);
  await pool.query(
    `insert into tasks (kind, subject, due_at, waits, waiting_since, problem) values
       ('answer_comment', 'job_1/42', now() + interval '5 minutes', 3, now() - interval '2 hours', 'GitHub answered 503.'),
       ('send_email', 'eml_8c1', 'infinity', 0, now() - interval '2 days', 'The mail server did not take an email: EENVELOPE.')`,
  );
  await pool.query(pastJobs, [projectId]);
  await pool.query(pastJobs, [otherId]);
  await pool.query(pastChecks, [projectId]);
  await pool.query(reviews, [projectId]);
  for (const statement of outOfStep) await pool.query(statement, [projectId]);
  const [runningId, longId] = await seedLongJobs(pool, { projectId, otherId });
  return { projectId, otherId, jobPaths, runningPath: `/app/jobs/${runningId}`, longPath: `/app/jobs/${longId}` };
}

/** Comments first, then merges. */
async function mergeLast(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Comment", { exact: true }).fill("Good: this reads better aloud.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByText("reads better aloud").waitFor();
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("button", { name: "Merge pull request" }).click();
  await page.getByRole("heading", { name: "Merged" }).waitFor();
}

/** A user who logs in sometimes, and one who never did. */
const people = `insert into users (id, email, name, role, password_hash, last_login_at) values
  ('usr_1', 'ada@example.com', 'Ada Lovelace', 'owner', 'x', clock_timestamp() - interval '2 hours'),
  ('usr_2', 'grace.brewster.murray.hopper@navy.example.com', 'Grace Brewster Murray Hopper', 'maintainer', null, clock_timestamp() - interval '3 days'),
  ('usr_3', 'bo@example.com', 'Bo', 'viewer', 'x', null)`;

/** One against it, one of an earlier commit, and one that was asked for. */
const reviews = `insert into local_reviews (project_id, number, reviewer, verdict, commit_id) values
  ($1, 1, 'ada@example.com', 'changes_requested', 'x'), ($1, 1, 'console', 'approved', 'x'),
  ($1, 1, 'grace.brewster.murray.hopper@navy.example.com', null, null)`;

/** A month of jobs with realistic prompts. */
const pastJobs = `insert into jobs (id, project_id, model, prompt, title, repository_url, branch, created_by, status,
    failure_code, created_at, updated_at, ended_at, usage, pull_request)
  select 'job_0' || lpad((1000 - n)::text, 4, '0') || substr(md5($1 || n), 1, 16), $1, (array['anthropic/claude-opus', 'openai/gpt', 'emend/rules'])[1 + n % 3],
    title, title, 'https://emend.test/git/x.git', 'emend/x', 'ada@example.com',
    case when n % 7 = 0 then 'failed' else 'completed' end, case when n % 7 = 0 then 'timeout' end,
    at, at, at + make_interval(secs => 20 + n % 90),
    jsonb_build_object('inputTokens', 4000 + n * 37 % 9000, 'outputTokens', 300 + n * 13 % 900, 'costUsd', (n % 5) * 0.04),
    case when n % 2 = 0 then jsonb_build_object('number', n, 'url', 'https://emend.test/' || n, 'draft', false,
      'state', case when n % 4 = 0 then 'merged' else 'open' end) end
  from (select n, (array['Say how retries work', 'Document the new region in Frankfurt', 'Replace “workspace” with “project”',
    'List every error code with its cause', 'Bring the quickstart up to version 4', 'Explain dead letters to beginners'])[1 + n * 7 % 6]
    as title, clock_timestamp() - make_interval(hours => 12 + n * (5 + n % 4)) as at from generate_series(1, 110) n) past`;

/** A decreasing number of findings. */
const pastChecks = `insert into site_checks (project_id, checked_at, commit_id, branch, framework, pages, counts)
  select $1, clock_timestamp() - make_interval(days => n), md5(n::text), 'main', 'mintlify', 8,
    jsonb_build_array(
      jsonb_build_object('check', 'broken-link', 'severity', 'error', 'count', 6 + n * n / 60, 'fixable', 1),
      jsonb_build_object('check', 'orphan-page', 'severity', 'warning', 'count', 1 + n / 4, 'fixable', 0),
      jsonb_build_object('check', 'image-alt', 'severity', 'warning', 'count', n / 6, 'fixable', 0),
      jsonb_build_object('check', 'stale-reference', 'severity', 'error', 'count', n / 5, 'fixable', 0),
      jsonb_build_object('check', 'changed-claim', 'severity', 'warning', 'count', n / 9, 'fixable', 0))
  from generate_series(1, 30) n`;

const cause = {
  commit: "47890c3d5b1e2f60718293a4b5c6d7e8f9012345",
  author: "Ann",
  date: "2026-11-12",
  message: "Rename the flag (#41)",
  pullRequest: 41,
};
const stale = {
  check: "stale-reference",
  severity: "error",
  path: "quickstart.mdx",
  line: 9,
  message: "`--dry-run` was renamed to `--preview`. Use the new name.",
  repository: "courier-server",
  cause,
  renamed: { from: "--dry-run", to: "--preview" },
};
const gone = {
  ...stale,
  line: 14,
  message: "`COURIER_REGION` is no longer in the code (src/config/read-the-environment.ts had it). Correct the page.",
  renamed: undefined,
};

/** A newest check with stale references, and claims of two pages. The workers leave them alone. */
const outOfStep = [
  `update site_checks set
     sources = '[{"repository":"courier-server","commit":"47890c3d5b1e","problem":null},{"repository":null,"commit":"5b1e2f607182","problem":null}]',
     findings = findings || '${JSON.stringify([stale, gone])}',
     counts = counts || '[{"check":"stale-reference","severity":"error","count":2,"fixable":0},{"check":"changed-claim","severity":"warning","count":1,"fixable":0}]'
   where project_id = $1 and findings is not null`,
  "insert into claim_looks (project_id, due_at) values ($1, 'infinity') on conflict (project_id) do update set due_at = 'infinity'",
  `insert into claims (project_id, page, page_line, page_line_end, page_text, path, line, line_end, text, state, found, cause, created_by)
   select $1, 'quickstart.mdx', 3, 3, 'A message is retried for 24 hours.', 'src/retries.ts', line, line, text, state, found::jsonb,
     case when state = 'changed' then '${JSON.stringify(cause)}'::jsonb end, 'seed'
   from (values (4, 'export const retryHours = 24;', 'changed', '{"path":"src/retries.ts","line":4,"lineEnd":4,"text":"export const retryHours = 72;"}'),
     (9, 'export const attemptsMax = 12;', 'same', null)) row (line, text, state, found)`,
];

const stepsCount = 1_000;

/** A running job, and one with a thousand steps, a diff of five thousand lines and a finding in it. */
async function seedLongJobs(
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
  message:
    "No heading on `reference.md` has the id `access-keys`; correct the part after `#` or give the heading that id.",
};
const findings = { findingsBefore: 2, findingsAfter: 3, introduced: [finding], fixed: [] };
