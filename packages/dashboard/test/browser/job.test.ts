import type { Page } from "playwright-core";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { press, reach } from "./support/keyboard.ts";
import { desktop, narrow, wide } from "./support/looks.ts";
import { addJob, tellJob } from "./support/tell-job.ts";

const dashboard = openDashboard();
/** One visitor for all: to log in is another file's. */
let page: Page;

beforeAll(async () => {
  page = await dashboard.logIn();
  dashboard.keep(page);
});
beforeEach(() => page.setViewportSize(wide));
const hostile = `<img src=x onerror="document.title='owned'"> \u202Etfel ${"wide".repeat(80)}`;

it("reads a job's change, asks for more and runs it again, at a desk and on a phone", async () => {
  const { id } = await dashboard.addSample("Docs");
  await page.goto(`${dashboard.url}/app?project=${id}`);
  const composer = page.getByLabel("What should change in the docs?");
  await composer.fill("Fix broken links.");
  await page.getByText("I read this as: fix broken links").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Opened #1 · 3 files · no new findings, 3 fixed/).waitFor();
  const changes = page.getByRole("region", { name: "Changes" });
  await changes.locator("ins").first().waitFor();

  // Everything by the keyboard: from the list of files to one, which is folded, previewed; a step opened, raw events shown.
  const name =
    (await changes
      .getByRole("region", { name: /\.mdx$/ })
      .last()
      .getAttribute("aria-label")) ?? "";
  const file = changes.getByRole("region", { name });
  await press(changes.getByRole("listitem").getByRole("button", { name }));
  await expect
    .poll(() => file.getByRole("button", { expanded: true }).evaluate((it) => it.matches(":focus")))
    .toBe(true);
  await page.keyboard.press("Enter");
  await file.getByRole("button", { expanded: false }).waitFor();
  await press(file.getByRole("button", { name: "Preview" }));
  await changes.getByText("front matter").waitFor();
  await press(page.locator("summary", { hasText: "Timeline" }));
  await press(page.locator("summary", { hasText: "fix_links" }).first());
  await page.locator("pre", { hasText: /links/ }).first().waitFor();
  await expectFitting(page);
  await expectAccessible(page);
  await page.setViewportSize(narrow);
  await expectFitting(page);
  await press(page.getByRole("button", { name: "Raw events" }));
  await page.getByText('"kind":"job.created"').waitFor();
  await expectFitting(page);

  // A refusal keeps what was typed; what is taken goes on with the same pull request.
  const more = page.getByLabel(/^Ask for more/);
  await page.route("**/message", (route) => route.abort(), { times: 1 });
  dashboard.expectComplaint(/ERR_FAILED/);
  await reach(more);
  await page.keyboard.insertText('Replace "API token" with "access key".');
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText("cannot be reached").waitFor();
  await page.reload();
  expect(await more.inputValue()).toBe('Replace "API token" with "access key".');
  await more.press("Control+Enter");
  await page.getByText(/^Opened #1 · \d\d files/).waitFor();
  await page.getByRole("heading", { name: /^Then/ }).waitFor();
  expect(await more.inputValue()).toBe("");

  const first = page.url();
  await press(page.getByRole("button", { name: "Run again" }));
  await page.waitForURL((url) => url.href !== first);
  await page.getByText(/^Opened #2 · 3 files/).waitFor();
  await press(page.getByRole("button", { name: "Archive" }));
  await page.getByText("Archived", { exact: true }).first().waitFor();
});

it("shows events as they come, through a lost connection and a reload", async () => {
  const { id: projectId } = await dashboard.addSample("Live");
  const { pool } = dashboard.installation.database;
  const jobId = await addJob(pool, projectId, hostile);
  await go(page, `/app/jobs/${jobId}`);
  const say = (number: number) =>
    tellJob(pool, jobId, { kind: "step", data: { number, text: `Words of step ${number} ${hostile}`, tools: [] } });
  const words = (number: number) => page.getByText(new RegExp(`^Words of step ${number} `));
  await say(1);
  await words(1).waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await expectFitting(page);

  // A server that goes away and comes back, with what happened meanwhile.
  dashboard.expectComplaint(/events|ERR_|net::/);
  await page.route("**/events?*", (route) => route.abort());
  await page.reload();
  await page.getByText("The connection is lost").waitFor();
  await say(2);
  await page.unroute("**/events?*");
  await words(2).waitFor();
  await page.getByText("The connection is lost").waitFor({ state: "detached" });
  expect(await words(1).count()).toBe(1);
  await page.reload();
  await words(2).waitFor();
  expect(await page.title()).not.toBe("owned");

  if (process.env.EMEND_MEASURE) await measureEvents(page, say);
  await press(page.getByRole("button", { name: "Cancel" }));
  const failure = page.getByRole("region", { name: "Failure" });
  await failure.getByText("cancelled", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(1);
  expect(await failure.getByRole("button").count()).toBe(1);

  // What a final job's past was refused with once is no end of it.
  await page.route("**/events?*", (route) => route.fulfill({ status: 503 }), { times: 1 });
  await page.reload();
  await words(2).waitFor();
});

/** From before an event is stored to when its words are painted. */
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

it("tells a full quota, a refusal and a fault in words, and loses nothing typed", async () => {
  const { id } = await dashboard.addSample("Refused");
  await page.goto(`${dashboard.url}/app?project=${id}`);
  const composer = page.getByLabel("What should change in the docs?");
  const start = page.getByRole("button", { name: "Start job" });
  await composer.fill("Fix broken links.");
  dashboard.expectComplaint(/429|403|500/);
  for (const [status, headers, words] of [
    [429, { "retry-after": "600" }, "Try again in 10 minutes."],
    [403, {}, "This takes the role maintainer"],
    [500, {}, "The server cannot do this just now (500)."],
  ] as const) {
    const json = status === 500 ? undefined : { error: status === 403 ? words : "The quota is used up." };
    await page.route("**/jobs", (route) => route.fulfill({ status, headers, ...(json && { json }) }), { times: 1 });
    await start.click();
    await page.getByRole("alert").getByText(words).waitFor();
    expect(await composer.inputValue()).toBe("Fix broken links.");
  }
  await page.reload();
  expect(await composer.inputValue()).toBe("Fix broken links.");
});

it("shows a viewer what happens, and nothing to press", async () => {
  const { id } = await dashboard.addSample("Watched");
  const { pool } = dashboard.installation.database;
  const jobId = await addJob(pool, id, "Fix broken links.");
  const page = await dashboard.logIn(desktop, "/app");
  await page.route("**/session", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), role: "viewer" } });
  });
  await page.goto(`${dashboard.url}/app/jobs/${jobId}`);
  await page.getByText("Waiting", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  const row = page.getByRole("link", { name: /^Queued Fix broken links/ });
  await row.waitFor();
  expect(await page.getByLabel("What should change in the docs?").count()).toBe(0);
  await row.press("Enter");
  await page.getByText("Waiting", { exact: true }).waitFor();
  // The row had the focus and is gone: keys go on from the page.
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("MAIN");

  const events = ["job.completed"] as const;
  await dashboard.server.admin.addWebhook({ projectId: id, url: "https://hooks.example.com/x", events });
  await go(page, `/app/projects/${id}?tab=webhooks`);
  await page.getByRole("button", { name: "Deliveries" }).click();
  await page.getByText("Nothing was posted yet").waitFor();
  expect(await page.getByRole("button", { name: /Add|Disable|Remove/ }).count()).toBe(0);

  // Code that cannot be fetched takes its page away, and no more.
  dashboard.expectComplaint(/ERR_FAILED|dynamically imported/);
  await page.route("**/assets/usage-page*", (route) => route.abort());
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("heading", { name: "This page broke off" }).waitFor();
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await row.waitFor();
});
