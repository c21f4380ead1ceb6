// Costly: the page follows a running job; layout shift and focus exist in a browser only.
import { randomUUID } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { waitForAnswer } from "../../../server/src/jobs/run/wait-for-answer.ts";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectFitting, expectGood, expectSteady } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";
import { bothLooks, take } from "./support/looks.ts";
import { addJob, tellJob } from "./support/tell-job.ts";
import { forgetShifts, watchShifts } from "./support/web-vitals.ts";

const dashboard = openDashboard();
/** One visitor for all: another file covers logging in. */
let page: Page;

let watchedId: string;

beforeAll(async () => {
  for (const { name } of bothLooks) await dashboard.addSample(`${name} docs`);
  watchedId = (await dashboard.addSample("Watched")).id;
  await dashboard.server.admin.carryOut("webhooks.add", {
    projectId: watchedId,
    url: "https://hooks.example.com/x",
    events: ["job.completed"],
  });
  page = await dashboard.logIn();
  await watchShifts(page);
  dashboard.keep(page);
});
const growing =
  "diff --git a/index.mdx b/index.mdx\n--- a/index.mdx\n+++ b/index.mdx\n@@ -1 +1 @@\n-Sign in\n+Log in\n";
const hostile = `<img src=x onerror="document.title='owned'"> \u202Etfel ${"wide".repeat(80)}`;

journey("shows events as they come, through a lost connection and a reload", async (look) => {
  await take(page, look);
  const { pool } = dashboard.installation.database;
  const jobId = await addJob(pool, watchedId, hostile);
  // Only a model has a budget in dollars.
  await pool.query("update jobs set model = 'anthropic/claude-opus' where id = $1", [jobId]);
  await go(page, `/app/jobs/${jobId}`);
  await page.getByText("Timeline").waitFor();
  await forgetShifts(page);
  const say = (number: number) =>
    tellJob(pool, jobId, { kind: "step", data: { number, text: `Words of step ${number} ${hostile}`, tools: [] } });
  const words = (number: number) => page.getByText(new RegExp(`^Words of step ${number} `));
  await say(1);
  await words(1).waitFor();
  // Its usage, and its change as it grows.
  await pool.query("insert into steps (job_id, number, messages, usage) values ($1, 1, '[]', $2)", [
    jobId,
    { inputTokens: 900, outputTokens: 100, costUsd: 0.25, durationMs: 4_000 },
  ]);
  await pool.query("update jobs set working_diff = $2 where id = $1", [jobId, deflateSync(growing)]);
  const files = [{ path: "index.mdx", change: "modified", additions: 1, deletions: 1 }];
  const tools = [{ name: "edit_file", input: { path: "index.mdx" }, ok: true }];
  await tellJob(pool, jobId, { kind: "step", data: { number: 1, text: "", tools, files } });
  await page.getByText("Edited index.mdx").locator("..").getByText("+1 −1").waitFor();
  await page.getByRole("region", { name: "Budget" }).getByText("$0.25").waitFor();
  await page.getByRole("heading", { name: /^1 file changed so far/ }).waitFor();
  await expectSteady(page);
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await expectFitting(page);

  // The server stops and comes back: the page catches up on events.
  dashboard.expectComplaint(/events|ERR_|net::/);
  await page.route("**/events?*", (route) => route.abort());
  await page.reload();
  await page.getByText("Connection lost").waitFor();
  await say(2);
  await page.unroute("**/events?*");
  await words(2).waitFor();
  await page.getByText("Connection lost").waitFor({ state: "detached" });
  expect(await words(1).count()).toBe(1);
  await page.reload();
  await words(2).waitFor();
  expect(await page.title()).not.toBe("owned");

  if (process.env.EMEND_MEASURE) await measureEvents(page, say);
  await press(page.getByRole("button", { name: "Cancel" }));
  await press(page.getByRole("button", { name: "Cancel job" }));
  const failure = page.getByRole("region", { name: "Cancelled" });
  await failure.getByRole("heading", { name: "Cancelled by you" }).waitFor();
  expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(1);
  expect(await failure.getByRole("button").count()).toBe(1);

  // A refused request for a final job's history can be retried.
  await page.route("**/events?*", (route) => route.fulfill({ status: 503 }), { times: 1 });
  await page.reload();
  await words(2).waitFor();
});

journey("shows a summary as it is meant, its sources, and both sides of a dispute", async (look) => {
  await take(page, look);
  const { pool } = dashboard.installation.database;
  const jobId = await addJob(pool, watchedId, "Document the flag.");
  const dispute = "the host serves `/status` itself";
  const finding = { check: "broken-link", severity: "error", path: "index.mdx", line: 3, column: 1 };
  const introduced = [{ ...finding, message: "`/status` links to a missing page", dispute }];
  const source = { repository: "cli", path: "src/dev.ts", line: 7, commit: "c".repeat(40) };
  const end = "status = 'archived', ended_at = now(), summary = $2, sources = $3, findings = $4";
  await pool.query(`update jobs set ${end} where id = $1`, [
    jobId,
    `## What changed\n\n- The page has the **flag** \`--host\`.\n\n${hostile}`,
    JSON.stringify([source]),
    JSON.stringify({ kind: "flagged", findingsBefore: 0, findingsAfter: 1, introduced, fixed: [] }),
  ]);
  await go(page, `/app/jobs/${jobId}`);
  await page.getByRole("heading", { name: "What changed" }).waitFor();
  await page.locator("strong", { hasText: "flag" }).waitFor();
  expect(await page.getByText(/##|\*\*/).count()).toBe(0);
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await page.getByText("@cli/src/dev.ts").waitFor();
  const checks = page.getByRole("region", { name: "Checks" });
  await checks.getByText("links to a missing page").waitFor();
  await checks.getByText("The agent disagrees: the host serves").waitFor();
  await expectGood(page);
  await expectFitting(page);
});

/** The time from before an event is stored until its text is painted. */
async function measureEvents(page: Page, say: (number: number) => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let number = 100; number < 130; number += 1) {
    const painted = page.evaluate<number>(`new Promise((done) => {
      const look = () => document.body.textContent.includes("Timeline ${number - 96} events")
        ? requestAnimationFrame(() => done(Date.now()))
        : requestAnimationFrame(look);
      look();
    })`);
    const before = Date.now();
    await say(number);
    times.push((await painted) - before);
  }
  const sorted = times.sort((a, b) => a - b);
  console.log(`event to pixel: median ${sorted[15]} ms, longest ${sorted.at(-1)} ms of ${sorted.length}`);
}

journey("says that it waits for the forge and until when, and retries what failed", async (look) => {
  const { pool } = dashboard.installation.database;
  const jobId = await addJob(pool, watchedId, "Fix broken links.");
  await pool.query(
    `update jobs set phase = 'publishing', commit_id = 'c', tree_id = 't', waiting_since = now(),
       waiting_words = 'GitHub answered 503: Down for maintenance' where id = $1`,
    [jobId],
  );
  await take(page, look);
  await go(page, `/app/jobs/${jobId}`);
  await page.getByText("Waiting for the repository's host").waitFor();
  await page.getByRole("status").getByText("GitHub answered 503: Down for maintenance").waitFor();
  await page.getByText(/^Next try /).waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "Cancel" }));
  await press(page.getByRole("button", { name: "Cancel job" }));
  const failure = page.getByRole("region", { name: /^(Cancelled|Failure)$/ });
  await failure.getByRole("heading", { name: "Cancelled" }).waitFor();
  const retry = failure.getByRole("button", { name: "Retry" });
  await retry.waitFor();
  await pool.query(
    "update jobs set failure_code = 'forge_unavailable', failure_message = 'GitHub answered 503.' where id = $1",
    [jobId],
  );
  await tellJob(pool, jobId, { kind: "failed", data: { code: "forge_unavailable", message: "GitHub answered 503." } });
  await page.reload();
  await failure.getByRole("heading", { name: "host did not answer" }).waitFor();
  await press(retry);
  await failure.waitFor({ state: "detached" });
});

journey("shows a question above all else, and sends the answer", async (look) => {
  const { pool } = dashboard.installation.database;
  const jobId = await addJob(pool, watchedId, "Say which release drops the endpoints.");
  const lease = { jobId, token: randomUUID() };
  await pool.query("update jobs set lease = $2, model = 'anthropic/claude-opus' where id = $1", [jobId, lease.token]);
  const question = { question: `Which release? ${hostile}`, options: ["3.0", "wide ".repeat(19)], step: 1 };
  await waitForAnswer(pool, lease, question, 3_600_000);
  await take(page, look);
  await go(page, `/app/jobs/${jobId}`);
  await page.getByText("Waiting for you", { exact: true }).waitFor();
  await page.getByRole("status").getByText("Which release?").waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "3.0" }));
  const heard = "select prompt, created_by from job_interjections where job_id = $1";
  await expect
    .poll(async () => (await pool.query(heard, [jobId])).rows, { timeout: 20_000 })
    .toEqual([{ prompt: "3.0", created_by: expect.stringMatching(/^user\//) }]);
});

journey("shows a viewer what happens, and nothing to press", async (look) => {
  const prompt = `Fix broken links, on a ${look.name}.`;
  const jobId = await addJob(dashboard.installation.database.pool, watchedId, prompt);
  await take(page, look);
  await page.route("**/session", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), role: "viewer" } });
  });
  await page.goto(`${dashboard.url}/app/jobs/${jobId}`);
  await page.getByText("Waiting", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
  await press(page.getByRole("link", { name: "Jobs", exact: true }));
  const row = page.getByRole("link", { name: new RegExp(`^Queued ${prompt}`) });
  await row.waitFor();
  expect(await page.getByLabel("What should change in the docs?").count()).toBe(0);
  await press(row);
  await page.getByText("Waiting", { exact: true }).waitFor();
  // The focused row is gone: the keyboard continues from the page.
  await expect.poll(() => page.evaluate("document.activeElement.tagName"), { timeout: 20_000 }).toBe("MAIN");

  await go(page, `/app/projects/${watchedId}?tab=webhooks`);
  await press(page.getByRole("button", { name: "Deliveries" }));
  await page.getByText("No deliveries yet").waitFor();
  expect(await page.getByRole("button", { name: /Add|Disable|Remove/ }).count()).toBe(0);

  // Code that cannot be loaded breaks its own page only.
  dashboard.expectComplaint(/ERR_FAILED|dynamically imported/);
  await page.route("**/assets/usage-page*", (route) => route.abort());
  await press(page.getByRole("link", { name: "Usage" }));
  await page.getByRole("heading", { name: "Something went wrong on this page" }).waitFor();
  await expectGood(page);
  await press(page.getByRole("link", { name: "Jobs", exact: true }));
  await row.waitFor();
});
