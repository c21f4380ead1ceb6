import { expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { expectFitting } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";
import { desktop, narrow, phone } from "./support/looks.ts";
import { addJob } from "./support/tell-job.ts";

const dashboard = openDashboard();

it("goes from a prompt to a pull request by the keyboard, at a desk and on a phone", async () => {
  const project = "Sample";
  await dashboard.addSample(project);
  const page = await dashboard.logIn(desktop, "/app/projects");
  await page.getByText(project).waitFor();

  await page.keyboard.press("c");
  const composer = page.getByLabel("What should change in the docs?");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: project });
  await composer.fill('Replace "API token" with "access key" and fix broken links.');
  await composer.press("Control+Enter");
  const link = page.getByRole("link", { name: /^Pull request #/ });
  await link.waitFor();
  await page.getByText(/^Opened #\d+ · \d+ files/).waitFor();
  await page.locator("ins").first().waitFor();
  await expectFitting(page);

  await page.setViewportSize(narrow);
  await page.reload();
  await press(link);
  await page.waitForURL(/\/app\/pulls\/prj_\w+\/\d+$/);
  await page.getByRole("button", { name: "Merge" }).waitFor();
});

it("shows hostile words as words, and keeps what was typed, on a phone", async () => {
  const hostile = `<img src=x onerror="document.title='owned'"> "API token" \u202Etfel ${"wide".repeat(80)}`;
  const project = "Hostile";
  await dashboard.addSample(project);
  const page = await dashboard.logIn(phone);
  const composer = page.getByLabel("What should change in the docs?");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: project });
  await composer.fill(hostile);
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("region", { name: "Failure" }).getByText("instruction_not_understood").waitFor();
  await page.getByText("U+202E").first().waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  await expectFitting(page);
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page
    .getByRole("link", { name: /onerror/ })
    .first()
    .waitFor();
  expect(await page.title()).not.toBe("owned");
  await expectFitting(page);

  // What was typed outlives a session that has ended.
  dashboard.expectComplaint(/401/);
  await composer.fill("Unsent words");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("alert").waitFor();
  expect(await composer.inputValue()).toBe("Unsent words");
});

it("finds jobs by their words, and shows every one again", async () => {
  const { id } = await dashboard.addSample("Sought");
  const page = await dashboard.logIn(undefined, `/app?project=${id}`);
  await page.getByText("No job is like that").waitFor();
  await page.getByLabel("Search jobs").fill("nothing like this");
  await page.waitForURL(/search=nothing/);
  await page.getByRole("link", { name: "Show every job" }).click();
  await page.waitForURL((url) => url.search === "");
  // Not for a moment alone: what was typed is gone, too.
  await expect.poll(() => page.getByLabel("Search jobs").inputValue()).toBe("");
  // The palette finds what was asked for after the list was loaded.
  await addJob(dashboard.installation.database.pool, id, "A job of just now.");
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: /^A job of just now/ }).waitFor();
});
