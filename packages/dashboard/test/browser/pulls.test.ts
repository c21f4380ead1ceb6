import { expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
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

  await page.getByRole("button", { name: "Merge" }).press("Enter");
  await page.getByRole("heading", { name: "Merged" }).waitFor();
  await page.getByRole("link", { name: "The job" }).press("Enter");
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

it("tells that the branch has moved, and closes", async () => {
  const { id } = await dashboard.addSample("Moved");
  const page = await dashboard.logIn(undefined, `/app?project=${id}`);
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("link", { name: /^Pull request #1/ }).click();
  await page.getByRole("button", { name: "Merge" }).waitFor();
  await page.route("**/merge", (route) => route.continue({ postData: JSON.stringify({ head: "0".repeat(40) }) }));
  dashboard.expectComplaint(/409/);
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("alert").getByText("has moved").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("heading", { name: "Closed" }).waitFor();
  expect(await page.getByRole("button", { name: "Merge" }).count()).toBe(0);
});
