// Costly: only what is on screen may be made, and only a browser has a screen.
import { deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { expectSteady } from "./support/judge.ts";
import { bothLooks, desktop } from "./support/looks.ts";
import { watchShifts } from "./support/web-vitals.ts";

/** `EMEND_MEASURE=1` uses larger pages and prints the long tasks of each. Tests never assert times. */
const isMeasuring = process.env.EMEND_MEASURE !== undefined;
const dashboard = openDashboard();
const jobsCount = 10_000;
const stepsCount = 1_000;
const longJob = "job_longlonglonglonglong";
let projectId: string;

/** A docs page with 5,000 lines of diff. Most lines are edited, as after replacing a term. */
const diff = [
  "diff --git a/guide.md b/guide.md",
  "--- a/guide.md",
  "+++ b/guide.md",
  "@@ -1,2500 +1,2500 @@",
  ...Array.from({ length: 250 }, (_, piece) => [
    ...Array.from({ length: 10 }, (_, line) => `-Line ${piece * 10 + line}: an API token is sent with each request.`),
    ...Array.from({ length: 10 }, (_, line) => `+Line ${piece * 10 + line}: an access key is sent with each request.`),
  ]).flat(),
  "",
].join("\n");

beforeAll(async () => {
  projectId = (await dashboard.addSample("Long")).id;
  const { pool } = dashboard.installation.database;
  await pool.query(
    `insert into jobs (id, project_id, status, prompt, model, repository_url, branch, created_by, created_at, ended_at)
     select 'job_' || lpad(n::text, 20, '0'), $1, 'completed', 'Prompt number ' || n, 'emend/rules', 'x', 'b' || n, 'test',
       now() - interval '1 day', now() from generate_series(1, $2::int) n`,
    [projectId, jobsCount],
  );
  await pool.query(
    `insert into jobs (id, project_id, status, prompt, model, repository_url, branch, created_by, ended_at, event_seq, diff)
     values ($1, $2, 'completed', 'A long job', 'emend/rules', 'x', 'long', 'test', now(), $3, $4)`,
    [longJob, projectId, stepsCount, deflateSync(diff)],
  );
  await pool.query(
    `insert into job_events (job_id, seq, kind, data)
     select $1, n, 'step', jsonb_build_object('number', n, 'text', 'Looking at page ' || n, 'tools', jsonb_build_array(
       jsonb_build_object('name', 'read_file', 'input', jsonb_build_object('path', 'p' || n || '.md'), 'ok', true)))
     from generate_series(1, $2::int) n`,
    [longJob, stepsCount],
  );
});

async function watchTasks(page: Page): Promise<(name: string) => Promise<void>> {
  if (!isMeasuring) return async () => {};
  const session = await page.context().newCDPSession(page);
  let longest: number[] = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    // By the thread's CPU clock: a busy machine makes no task longer.
    for (const { name, tdur } of value as unknown as { name: string; tdur?: number }[])
      if (name.endsWith("RunTask") && tdur) longest.push(Math.round(tdur / 1000));
  });
  await page.addInitScript(`
    globalThis.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration))))
      .observe({ type: "longtask", buffered: true });
  `);
  const start = () =>
    session.send("Tracing.start", {
      categories: "devtools.timeline,disabled-by-default-devtools.timeline",
      transferMode: "ReportEvents",
    });
  await start();
  return async (name) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    session.once("Tracing.tracingComplete", () => resolve());
    await session.send("Tracing.end");
    await promise;
    const top = longest.sort((a, b) => b - a).slice(0, 5);
    const observed = (await page.evaluate<number[]>("longTasks.splice(0)")).sort((a, b) => b - a);
    console.log(
      `${name}: longest tasks ${top.join(", ")} ms of processor time; ` +
        `by the clock ${observed.length} over 50 ms, longest ${observed[0] ?? 0} ms`,
    );
    longest = [];
    await start();
  };
}

/** Scrolls down one screen at a time, and waits for each paint. */
async function scrollDown(page: Page, screens: number): Promise<void> {
  for (let screen = 0; screen < screens; screen += 1) {
    await page.mouse.wheel(0, 800);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }
}

/** The prompt in the last rendered row. */
async function lastNumber(page: Page): Promise<number> {
  const text = await page.locator("[data-row]").last().textContent();
  return Number(/Prompt number (\d+)/.exec(text ?? "")?.[1] ?? Number.POSITIVE_INFINITY);
}

const elementsOf = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length");

it("scrolls over ten thousand jobs with those on screen made alone", {
  timeout: isMeasuring ? 600_000 : 120_000,
}, async () => {
  const page = await dashboard.logIn(desktop, "/app/keys");
  const tell = await watchTasks(page);
  await page.goto(`${dashboard.url}/app`);
  await page.locator("[data-row]").first().waitFor();
  await tell("jobs, first paint");
  await page.mouse.move(600, 600);
  const lowest = jobsCount - (isMeasuring ? 1_500 : 500);
  // Waits for that very row: rows that a jump skips are never rendered.
  while ((await lastNumber(page)) > lowest) {
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }
  await tell("jobs, down to the last");
  await page.evaluate("scrollTo(0, document.body.scrollHeight / 2)");
  await scrollDown(page, isMeasuring ? 40 : 5);
  expect(await page.locator("[data-row]").count()).toBeLessThan(200);
  expect(await elementsOf(page)).toBeLessThan(5_000);
  await tell("jobs, scrolled");

  // Keyboard navigation continues as rows are rendered.
  await page.evaluate("scrollTo(0, 0)");
  await page.getByText("A long job").waitFor();
  for (let row = 0; row < 60; row += 1) await page.keyboard.press("j");
  expect(await page.evaluate("document.activeElement.textContent")).toContain(`Prompt number ${jobsCount - 58}`);
});

it("shows a thousand steps and a diff of five thousand lines piece by piece", async () => {
  const page = await dashboard.logIn(desktop, "/app/keys");
  const tell = await watchTasks(page);
  await page.goto(`${dashboard.url}/app/jobs/${longJob}`);
  await page.getByText("+2500").first().waitFor();
  await page.getByText("1000 events").waitFor();
  await page.locator("ins").first().waitFor();
  expect(await elementsOf(page)).toBeLessThan(5_000);
  await tell("job, first paint");
  await page.mouse.move(900, 600);
  await scrollDown(page, isMeasuring ? 150 : 5);
  await tell("diff, scrolled");
  await page.getByRole("button", { name: "Side by side" }).click();
  await scrollDown(page, 20);
  await tell("diff, side by side");
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
  await page.locator("summary", { hasText: "Timeline" }).click();
  await page.getByText("Looking at page 1", { exact: true }).waitFor();
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
  await page.getByText("Looking at page 1000", { exact: true }).waitFor();
  await tell("timeline, to its end");
  await page.getByRole("button", { name: "Events as data" }).click();
  await scrollDown(page, 20);
  await tell("raw events");
});

/** A line is rendered in the middle of the window. */
const hasRow = "Boolean(document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('tr'))";

it.each(bothLooks)("knows how high the lines of a diff are before it renders them: $name", async (look) => {
  const page = await dashboard.logIn(look, "/app/keys");
  await watchShifts(page);
  await page.goto(`${dashboard.url}/app/jobs/${longJob}`);
  await page.locator("ins").first().waitFor();
  const file = page.getByRole("region", { name: "guide.md" });
  const heightPx = () => file.evaluate((element) => element.getBoundingClientRect().height);
  const estimatedPx = await heightPx();
  for (const share of [0.3, 0.9, 0.6]) {
    await page.evaluate(`scrollTo(0, ${share} * document.body.scrollHeight)`);
    await expect.poll(() => page.evaluate(hasRow), { timeout: 30_000 }).toBe(true);
    expect(await heightPx()).toBe(estimatedPx);
  }
  await expectSteady(page, 0.01);
});
