// Costly: it is the one journey that every writer makes, by keyboard, in the page itself.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectFitting, expectGood, expectSteady } from "./support/judge.ts";
import { choose, press, reach, type } from "./support/keyboard.ts";
import { bothLooks, desktop, take } from "./support/looks.ts";
import { forgetShifts, watchShifts } from "./support/web-vitals.ts";

const dashboard = openDashboard();
/** One visitor for all: another file covers logging in. */
let page: Page;

beforeAll(async () => {
  for (const { name } of bothLooks) await dashboard.addSample(`${name} docs`);
  page = await dashboard.logIn();
  await watchShifts(page);
  dashboard.keep(page);
});

journey("goes from a prompt to a change, asks for more, runs it again, archives it", async (look) => {
  await take(page, look);
  await go(page, "/app/projects");
  await page.getByRole("link", { name: "Add project" }).waitFor();
  await page.keyboard.press("c");
  const composer = page.getByLabel("What should change in the docs?");
  await choose(page.getByLabel("Project", { exact: true }), look.name.charAt(0));
  await type(composer, "Fix broken links.");
  // Typed text survives a visit to another page.
  await press(page.getByRole("link", { name: "API keys" }));
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await page.keyboard.press("c");
  await expect.poll(() => composer.inputValue(), { timeout: 20_000 }).toBe("Fix broken links.");
  await page.getByText("I read this as: fix broken links").waitFor();
  await reach(composer);
  await forgetShifts(page);
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Opened #1 · 3 files · no new findings, 3 fixed, \d older/).waitFor();
  const changes = page.getByRole("region", { name: "Changes" });
  // Little layout shift for people who watch the job to its end.
  await expectSteady(page);
  await page.reload();
  await changes.scrollIntoViewIfNeeded();
  await changes.locator("ins").first().waitFor();

  // Keyboard only: from the file list to a file, fold it, preview it; open a step, show raw events.
  const name =
    (await changes
      .getByRole("region", { name: /\.mdx$/ })
      .last()
      .getAttribute("aria-label")) ?? "";
  const file = changes.getByRole("region", { name });
  await press(changes.getByRole("listitem").getByRole("button", { name }));
  await expect
    .poll(() => file.getByRole("button", { expanded: true }).evaluate((it) => it.matches(":focus")), {
      timeout: 20_000,
    })
    .toBe(true);
  await page.keyboard.press("Enter");
  await file.getByRole("button", { expanded: false }).waitFor();
  await press(file.getByRole("button", { name: "Preview" }));
  await changes.getByText("front matter").waitFor();
  await press(page.locator("summary", { hasText: "Timeline" }));
  await press(page.locator("summary", { hasText: "fix_links" }).first());
  await page.locator("pre", { hasText: /links/ }).first().waitFor();
  // Two columns need a wide window.
  if (look === desktop) {
    await press(changes.getByRole("button", { name: "Side by side" }));
    await press(changes.getByRole("button", { name: "Unified" }));
  }
  await expectGood(page);
  await press(page.getByRole("button", { name: "Events as data" }));
  await page.getByText('"kind":"job.created"').waitFor();
  await expectFitting(page);

  // A refusal keeps the typed text. An accepted message continues on the same pull request.
  const more = page.getByLabel(/^Ask for changes/);
  await page.route("**/message", (route) => route.abort(), { times: 1 });
  dashboard.expectComplaint(/ERR_FAILED/);
  await type(more, 'Replace "API token" with "access key".');
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText("Can't reach").waitFor();
  await page.reload();
  expect(await more.inputValue()).toBe('Replace "API token" with "access key".');
  await reach(more);
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Opened #1 · \d\d files/).waitFor();
  await page.getByRole("heading", { name: /^Follow-up 1/ }).waitFor();
  // Its result has one heading, also after a reload.
  const result = page.getByRole("heading", { name: /^Result of follow-up/ });
  expect(await result.textContent()).toBe("Result of follow-up 1");
  await page.reload();
  await result.waitFor();
  // Each round shows what it did.
  await page
    .getByText(/Carried out by/)
    .first()
    .waitFor();
  expect(await more.inputValue()).toBe("");
  if (look === desktop) {
    // One that changes nothing says so, also after a reload.
    await type(more, 'Replace "API token" with "access key".');
    await page.keyboard.press("Control+Enter");
    for (const visit of ["watched", "read later"]) {
      await page.getByText(/^No changes in follow-up 2 · Opened #1 · \d\d files/).waitFor();
      expect(await result.textContent(), visit).toBe("Result of follow-up 2: no changes");
      await page.reload();
    }
  }

  const first = page.url();
  await press(page.getByRole("button", { name: "Run again" }));
  await page.waitForURL((url) => url.href !== first);
  await page.getByText(/^Opened #2 · 3 files/).waitFor();
  await press(page.getByRole("button", { name: "Archive" }));
  await page.getByText("Archived", { exact: true }).first().waitFor();
  await press(page.getByRole("link", { name: /^Pull request #2/ }));
  await page.waitForURL(/\/app\/pulls\/prj_\w+\/2$/);
  await page.getByRole("button", { name: "Merge" }).waitFor();
});
