import type { Page } from "playwright-core";
import { sampleDocs } from "./sample-docs.ts";
import { seedLongJobs } from "./seed-long-jobs.ts";
import type { Installation } from "./start-installation.ts";

export interface Seeded {
  projectId: string;
  /** Of one that is empty and has a name too long. */
  otherId: string;
  /** Of a job that changed much, one that failed, one that changed little, and one whose pull request is merged. */
  jobPaths: readonly string[];
  /** Of one that is at work. */
  runningPath: string;
  /** Of one with a thousand steps and a diff of five thousand lines. */
  longPath: string;
}

const prompts = [
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.',
  "Please make everything better <img src=x onerror=alert(1)>",
  "Fix broken links.",
  'Replace "Hold the answer back" with "Hold back the answer".',
];

/** Something of everything: a project with a name too long, keys of several ages, jobs of several ends, a past. */
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
  await admin.addWebhook({ projectId, url: "https://hooks.example.com/services/emend", events: ["job.completed"] });
  await admin.automations.add({
    projectId,
    name: "Links on Mondays",
    prompt: "Fix broken links. Report what is left by {{date}}.",
    trigger: { kind: "cron", expression: "0 9 * * 1", timezone: "Europe/Berlin" },
    createdBy: "ada@example.com",
  });
  await pool.query(people);
  const jobPaths: string[] = [];
  for (const prompt of prompts) {
    await page.goto(`${server.url}/app?project=${projectId}`);
    await page.getByLabel("What should change in the docs?").fill(prompt);
    await page.getByRole("button", { name: "Start job" }).click();
    await page.getByRole("button", { name: "Run again" }).waitFor({ timeout: 60_000 });
    jobPaths.push(new URL(page.url()).pathname);
  }
  await page.goto(`${server.url}/app/health?project=${projectId}`);
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByRole("figure").waitFor();
  await mergeLast(page, `${server.url}/app/pulls/${projectId}/3`);
  await pool.query(pastJobs, [projectId]);
  await pool.query(pastJobs, [otherId]);
  await pool.query(pastChecks, [projectId]);
  const [runningId, longId] = await seedLongJobs(pool, { projectId, otherId });
  return { projectId, otherId, jobPaths, runningPath: `/app/jobs/${runningId}`, longPath: `/app/jobs/${longId}` };
}

/** With a word first. */
async function mergeLast(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Comment", { exact: true }).fill("Good: this reads better aloud.");
  await page.getByRole("button", { name: "Comment" }).click();
  await page.getByText("reads better aloud").waitFor();
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("heading", { name: "Merged" }).waitFor();
}

/** Who logs in now and then, and who never did. */
const people = `insert into users (id, email, name, role, password_hash, last_login_at) values
  ('usr_1', 'ada@example.com', 'Ada Lovelace', 'owner', 'x', clock_timestamp() - interval '2 hours'),
  ('usr_2', 'grace.brewster.murray.hopper@navy.example.com', 'Grace Brewster Murray Hopper', 'maintainer', null, clock_timestamp() - interval '3 days'),
  ('usr_3', 'bo@example.com', 'Bo', 'viewer', 'x', null)`;

/** A month of jobs, as people would have asked for them. */
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

/** Findings that became fewer. */
const pastChecks = `insert into site_checks (project_id, checked_at, commit_id, branch, framework, pages, counts)
  select $1, clock_timestamp() - make_interval(days => n), md5(n::text), 'main', 'mintlify', 8,
    jsonb_build_array(
      jsonb_build_object('check', 'broken-link', 'severity', 'error', 'count', 6 + n * n / 60, 'fixable', 1),
      jsonb_build_object('check', 'orphan-page', 'severity', 'warning', 'count', 1 + n / 4, 'fixable', 0),
      jsonb_build_object('check', 'image-alt', 'severity', 'warning', 'count', n / 6, 'fixable', 0))
  from generate_series(1, 30) n`;
