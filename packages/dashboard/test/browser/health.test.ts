import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectGood } from "./support/judge.ts";
import { choose, press } from "./support/keyboard.ts";
import { bothLooks, take } from "./support/looks.ts";

const dashboard = openDashboard();
/** One visitor for all: to log in is another file's. */
let page: Page;

beforeAll(async () => {
  await dashboard.server.admin.addProject({ name: "Nothing", forge: "local" });
  for (const { name } of bothLooks) await dashboard.addSample(`${name} docs`);
  page = await dashboard.logIn();
  dashboard.keep(page);
});

it.each(bothLooks)("looks at a site, and one key mends what it found: $name", async (look) => {
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
  await press(page.getByRole("button", { name: "Start job: Fix broken links." }));
  await page.getByRole("link", { name: /^Pull request #/ }).waitFor();

  // The composer offers what was found, too.
  await page.keyboard.press("c");
  await choose(page.getByLabel("Project", { exact: true }), look.name.charAt(0));
  await press(page.getByRole("button", { name: /^Fix broken links\. · .*lead/ }));
  const composer = page.getByLabel("What should change in the docs?");
  await expect.poll(() => composer.inputValue(), { timeout: 20_000 }).toBe("Fix broken links.");
  expect(await composer.evaluate((element) => element.matches(":focus"))).toBe(true);
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
});

it.each(bothLooks)("says why a site could not be looked at: $name", async (look) => {
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
