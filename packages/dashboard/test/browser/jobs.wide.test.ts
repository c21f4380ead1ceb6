// Costly: keyboard, layout and contrast exist in a browser only.
import { beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectGood, expectSteady } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";
import { bothLooks } from "./support/looks.ts";
import { watchShifts } from "./support/web-vitals.ts";

const dashboard = openDashboard();

beforeAll(async () => {
  // Each starts with another letter, which selects it.
  for (const name of ["Other", ...bothLooks.map((look) => look.name)]) await dashboard.addSample(`${name} docs`);
});

journey("shows hostile words as words, finds them among jobs, and keeps what was typed", async (look) => {
  const hostile = `<img src=x onerror="document.title='owned'"> "API token" \u202Etfel ${"wide".repeat(80)}`;
  const initial = look.name.charAt(0);
  const page = await dashboard.logIn(look);
  const composer = page.getByLabel("What should change in the docs?");
  await choose(page.getByLabel("Project", { exact: true }), initial);
  // As if a language model would take it: the rules would not let it start.
  await page.route("**/reading", (route) => route.fulfill({ json: { kind: "free" } }));
  await type(composer, hostile);
  await press(page.getByRole("button", { name: "Start job" }));
  await page.getByRole("region", { name: "Failure" }).getByText("did not understand the instruction").waitFor();
  await page.getByText("U+202E").first().waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await expectGood(page);

  await press(page.getByRole("link", { name: "Jobs", exact: true }));
  const row = page.getByRole("link", { name: /onerror/ });
  const none = page.getByText("No jobs match");
  await row.first().waitFor();
  expect(await page.title()).not.toBe("owned");
  await choose(page.getByLabel("Show project"), "o");
  // Nothing was searched for: it is a new project.
  await page.getByText("No jobs yet").waitFor();
  await press(page.getByLabel("Show project"), "Home");
  await row.first().waitFor();
  await choose(page.getByLabel("Status"), "C");
  await none.waitFor();
  await press(page.getByLabel("Status"), "Home");
  await row.first().waitFor();
  await type(page.getByLabel("Search jobs"), "nothing like this");
  await none.waitFor();
  await expectGood(page);
  await press(page.getByRole("link", { name: "Show all jobs" }));
  await page.waitForURL((url) => url.search === "");
  // Not just for a moment: the typed text is gone too.
  await expect.poll(() => page.getByLabel("Search jobs").inputValue(), { timeout: 20_000 }).toBe("");
  await type(page.getByLabel("Search jobs"), "onerror");
  await page.waitForURL(/search=onerror/);
  await row.first().waitFor();

  // Shown when the visitor returns to the page, until the server is back.
  dashboard.expectComplaint(/ERR_FAILED|401/);
  const away = page.getByRole("status").filter({ hasText: "Can't reach" });
  await page.route("**/api/projects", (route) => route.abort());
  const comeBack = () => page.evaluate('dispatchEvent(new Event("visibilitychange"))');
  // Data that is only two seconds old is not fetched again.
  await expect.poll(() => comeBack().then(() => away.isVisible()), { timeout: 20_000 }).toBe(true);
  await page.unroute("**/api/projects");
  await away.waitFor({ state: "detached" });

  // Typed text survives an expired session.
  await type(composer, "Unsent words");
  await page.context().clearCookies();
  await press(page.getByRole("button", { name: "Start job" }));
  await page.getByRole("alert").waitFor();
  expect(await composer.inputValue()).toBe("Unsent words");
  expect(await away.count()).toBe(0);
});

journey("moves nothing when the rules' answer or the end of the session comes late", async (look) => {
  const page = await dashboard.logIn(look);
  await watchShifts(page);
  await type(page.getByLabel("What should change in the docs?"), "Please make everything better.");
  const answer = page.getByText("do not understand");
  await answer.waitFor();
  // The text is kept, and no key is pressed that would excuse a move.
  await page.reload();
  await answer.waitFor();
  await expectSteady(page);
  dashboard.expectComplaint(/401/);
  await page.context().clearCookies();
  const ended = page.getByText("Your session expired");
  const comeBack = () => page.evaluate('dispatchEvent(new Event("visibilitychange"))');
  await expect.poll(() => comeBack().then(() => ended.isVisible()), { timeout: 20_000 }).toBe(true);
  await expectSteady(page);
  await expectGood(page);
});

journey("saves a prompt, runs it in two projects, follows both on one page, and tells at the end", async (look) => {
  const page = await dashboard.logIn(look);
  const composer = page.getByLabel("What should change in the docs?");
  await choose(page.getByLabel("Project", { exact: true }), look.name.charAt(0));
  await type(composer, "Fix broken links.");
  await press(page.getByRole("button", { name: "Saved prompts" }));
  await type(page.getByLabel("Name"), "Weekly links");
  await press(page.getByRole("button", { name: "Save prompt" }));
  await page.getByRole("button", { name: "Use Weekly links" }).waitFor();
  await expectGood(page, "dialog");
  await press(page.getByRole("button", { name: "Close" }));
  await type(composer, "Something else.");
  await press(page.getByRole("button", { name: "Saved prompts" }));
  await press(page.getByRole("button", { name: "Use Weekly links" }));
  await expect.poll(() => composer.inputValue(), { timeout: 20_000 }).toBe("Fix broken links.");

  await press(page.getByRole("button", { name: "Options" }));
  await press(page.getByLabel("Other docs"), "Space");
  await press(page.getByRole("button", { name: "Start 2 jobs" }));
  await page.getByText(/^2 of 2 done · 2 pull requests$/).waitFor();
  await expectGood(page);
  const notifications = page.getByRole("region", { name: "Notifications" });
  await notifications.getByText("Completed").first().waitFor();
  await press(notifications.getByRole("button", { name: "Dismiss" }).first());
  await page.reload();
  await page.getByText(/^2 of 2 done/).waitFor();
});
