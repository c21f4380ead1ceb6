// Costly: keyboard, layout and contrast exist in a browser only.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectGood } from "./support/judge.ts";
import { choose, press } from "./support/keyboard.ts";
import { bothLooks, take } from "./support/looks.ts";

const dashboard = openDashboard();
/** One visitor for all: another file covers logging in. */
let page: Page;

beforeAll(async () => {
  await dashboard.server.admin.addProject({ name: "Nothing", forge: "local" });
  for (const { name } of bothLooks) await dashboard.addSample(`${name} docs`);
  page = await dashboard.logIn();
  dashboard.keep(page);
});

journey("looks at a site, and one key mends what it found", async (look) => {
  await take(page, look);
  await press(page.getByRole("link", { name: "Health" }));
  await page.getByRole("heading", { name: "Site health" }).waitFor();
  await choose(page.getByLabel("Project"), look.name.charAt(0));
  await page.waitForURL(/project=/);
  expect(await page.getByLabel("Project").evaluate((element) => element.matches(":focus"))).toBe(true);
  await press(page.getByRole("button", { name: "Check now" }));
  await page.getByRole("figure", { name: "Findings over time" }).waitFor();
  await page
    .getByText(/links to a missing page/)
    .first()
    .waitFor();
  await expectGood(page);
  // A worker checks it again: the page says so until it is done.
  await page.route("**/health", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), isChecking: true } });
  });
  await page.reload();
  await page.getByText("Emend is checking it again now").waitFor();
  await page.unroute("**/health");
  await page.getByText("Emend checks daily").waitFor();
  await press(page.getByRole("button", { name: "Start job: Fix broken links." }));
  await page.getByRole("link", { name: /^Pull request #/ }).waitFor();

  // While its pull request is open, the same fix is not offered again. The composer offers the other findings.
  await press(page.getByRole("link", { name: "Health" }));
  await choose(page.getByLabel("Project"), look.name.charAt(0));
  await page.getByRole("link", { name: "Waits in pull request #1" }).waitFor();
  expect(await page.getByRole("button", { name: "Start job: Fix broken links." }).count()).toBe(0);
  await press(page.getByRole("link", { name: "Jobs", exact: true }));
  await choose(page.getByLabel("Project", { exact: true }), look.name.charAt(0));
  const suggestions = page.getByRole("list", { name: "Suggestions" }).getByRole("button");
  await suggestions.first().waitFor();
  expect((await suggestions.allTextContents()).filter((words) => words.startsWith("Fix broken links"))).toEqual([]);
  await press(suggestions.first());
  const composer = page.getByLabel("What should change in the docs?");
  await expect.poll(() => composer.inputValue(), { timeout: 20_000 }).not.toBe("");
  expect(await composer.evaluate((element) => element.matches(":focus"))).toBe(true);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
});

journey("says why a site could not be looked at", async (look) => {
  await take(page, look);
  await go(page, "/app/health");
  await choose(page.getByLabel("Project"), "N");
  await press(page.getByRole("button", { name: "Check now" }));
  await page
    .getByRole("alert")
    .filter({ hasText: /The last check failed: .+/ })
    .waitFor();
  await expectGood(page);
});

journey("opens a finding in the editor at its line, and proposes the mended page", async (look) => {
  await take(page, look);
  await go(page, "/app/health");
  await choose(page.getByLabel("Project"), look.name.charAt(0));
  await press(page.getByRole("button", { name: "Check now" }));
  const findings = page.getByRole("region", { name: "Findings" });
  const row = findings.getByRole("listitem").filter({ hasText: "links to a missing page" }).first();
  const place = row.getByRole("link", { name: /\.mdx?:\d+$/ });
  await place.waitFor();
  const line = Number(/\d+$/.exec((await place.textContent()) ?? "")?.[0]);
  await press(place);
  const field = page.getByLabel(/^Text of/);
  await field.waitFor();
  // The cursor has chosen the finding's line.
  const before = "document.activeElement.value?.slice(0, document.activeElement.selectionStart)";
  await expect.poll(() => page.evaluate(`${before}?.split("\\n").length`), { timeout: 20_000 }).toBe(line);
  await expectGood(page);
  await page.keyboard.insertText("A line without links.");
  await page.getByText(/No new findings, \d+ fixed/).waitFor();
  await page.keyboard.insertText(" [Elsewhere](./no-such-page-anywhere)");
  await page.getByText(/^1 new/).waitFor();
  await expectGood(page);
  for (let at = 0; at < " [Elsewhere](./no-such-page-anywhere)".length; at += 1) await page.keyboard.press("Backspace");
  await page.getByText(/No new findings, \d+ fixed/).waitFor();
  await press(page.getByRole("button", { name: "Open pull request" }));
  await page.getByRole("heading", { name: "Ready to merge" }).waitFor();
});

journey("proposes the fix of one finding with one key", async (look) => {
  await take(page, look);
  const { id } = await dashboard.addSample(`${look.name} one`);
  await page.goto(`${dashboard.url}/app/health?project=${id}`);
  await press(page.getByRole("button", { name: "Check now" }));
  const fix = page.getByRole("button", { name: /^Propose a fix for quickstart\.mdx:/ });
  await fix.waitFor();
  await press(fix);
  await page.getByText(/^Opened #1 · 1 file · no new findings, 1 fixed/).waitFor();
});
