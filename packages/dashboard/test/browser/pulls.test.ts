import { expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";
import { bothLooks } from "./support/looks.ts";

const dashboard = openDashboard();
const hostile = `<img src=x onerror="document.title='owned'"> **bold** \u202Etfel ${"wide".repeat(80)}`;

it.each(bothLooks)("opens, discusses and merges a pull request by the keyboard: $name", async (look) => {
  const name = `Docs on a ${look.name}`;
  const { id } = await dashboard.addSample(name);
  const page = await dashboard.logIn(look, `/app?project=${id}`);
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("link", { name: /^Pull request #1/ }).waitFor();
  const jobUrl = page.url();

  // The link that the API gives leads a browser here.
  await page.goto(`${dashboard.url}/forge/${id}/pull/1`);
  await page.waitForURL(`${dashboard.url}/app/pulls/${id}/1`);
  await page.getByText("Merges cleanly").waitFor();
  await page.getByText("git clone").waitFor();
  await page.locator("ins").first().waitFor();
  await page.getByLabel("Comment", { exact: true }).fill(hostile);
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 comment", { exact: true }).waitFor();
  await page.getByText("U+202E").waitFor();
  expect(await page.locator('img[src="x"]').count()).toBe(0);
  expect(await page.title()).not.toBe("owned");
  await expectFitting(page);
  await expectAccessible(page);

  await press(page.getByRole("button", { name: "Merge" }));
  await page.getByRole("heading", { name: "Merged" }).waitFor();
  await press(page.getByRole("link", { name: "The job" }));
  await page.waitForURL(jobUrl);
  await page.getByText(/^Merged #1/).waitFor();

  await page.goto(`${dashboard.url}/app/pulls`);
  await page
    .getByRole("link", { name: /Fix broken links/ })
    .first()
    .waitFor();
  await expectFitting(page);
  await expectAccessible(page);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/app\/pulls\/prj_\w+\/1$/);
});

it.each(bothLooks)("tells that the branch has moved, and closes by the keyboard: $name", async (look) => {
  const { id } = await dashboard.addSample(`Moved on a ${look.name}`);
  const page = await dashboard.logIn(look, `/app?project=${id}`);
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.keyboard.press("Control+Enter");
  await press(page.getByRole("link", { name: /^Pull request #1/ }));
  await page.getByRole("button", { name: "Merge" }).waitFor();
  await page.route("**/merge", (route) => route.continue({ postData: JSON.stringify({ head: "0".repeat(40) }) }));
  dashboard.expectComplaint(/409/);
  await press(page.getByRole("button", { name: "Merge" }));
  await page.getByRole("alert").getByText("has moved").waitFor();
  await press(page.getByRole("button", { name: "Close" }));
  await page.getByRole("heading", { name: "Closed" }).waitFor();
  expect(await page.getByRole("button", { name: "Merge" }).count()).toBe(0);
});

it("takes a comment that begins with @emend for a follow-up, and tells it where the job is open", async () => {
  const { id } = await dashboard.addSample("Asked");
  const page = await dashboard.logIn(undefined, `/app?project=${id}`);
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Opened #1 · 3 files/).waitFor();
  // Somebody reads the job, which is at rest: its stream of events has ended.
  const reader = await page.context().newPage();
  const over = reader.waitForResponse((answer) => answer.url().includes("/events") && answer.status() === 204);
  await reader.goto(page.url());
  await over;

  await press(page.getByRole("link", { name: /^Pull request #1/ }));
  await page.getByLabel("Comment", { exact: true }).fill('@emend replace "API token" with "access key"');
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 comment", { exact: true }).waitFor();
  await reader.getByRole("heading", { name: /^Then/ }).waitFor();
  await reader.getByText(/^Opened #1 · \d\d files/).waitFor();
  await reader.locator("summary", { hasText: "Timeline" }).click();
  await reader.getByText("Asked for more", { exact: true }).waitFor();
});
