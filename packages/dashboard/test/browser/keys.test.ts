// Costly: a key is shown once, copied and gone: a page with its clipboard and reload.
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectFitting } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";
import { take } from "./support/looks.ts";

const dashboard = openDashboard();
/** One visitor for all: another file covers logging in. */
let page: Page;
let id: string;

beforeAll(async () => {
  id = (await dashboard.addSample("Sample")).id;
  page = await dashboard.logIn(undefined, "/app/keys");
  dashboard.keep(page);
});

journey("shows a new key once by the keyboard alone; it works until it is revoked", async (look) => {
  await take(page, look);
  const name = `release script on a ${look.name}`;
  await page.getByText(id, { exact: true }).waitFor();
  await press(page.getByRole("button", { name: "Create key" }));
  const dialog = page.getByRole("dialog");
  await type(dialog.getByLabel("Name", { exact: true }), name);
  for (const box of await dialog.getByRole("checkbox", { checked: false }).all()) await press(box, "Space");
  const listed = page.waitForResponse((answer) => {
    return answer.url().endsWith("/dashboard/api/keys") && answer.request().method() === "GET";
  });
  await press(dialog.getByRole("button", { name: "Create key" }));
  const key = (await page.getByRole("dialog", { name: "Your new key" }).locator("code").first().textContent()) ?? "";
  expect(key).toMatch(/^emend_/);
  // The list behind the dialog grows by the click that closes it, and not when the server answers.
  await listed;
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  expect(await page.locator("li", { hasText: name }).count()).toBe(0);
  await press(page.getByRole("button", { name: "Done" }));
  const row = page.getByRole("listitem").filter({ hasText: name });
  await row.waitFor();
  expect(await page.getByText(key).count()).toBe(0);
  await expectFitting(page);

  const use = async () =>
    (await fetch(`${dashboard.url}/v2/agent/${id}/jobs`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await use()).toBe(200);

  await press(row.getByRole("button", { name: "Rotate" }));
  await choose(page.getByLabel("Old key expires"), "in 7");
  await press(page.getByRole("button", { name: "Rotate key" }));
  await page.getByRole("dialog", { name: "Your new key" }).getByText("works for up to 7 more days").waitFor();
  await press(page.getByRole("button", { name: "Done" }));
  await row.filter({ hasText: "expires in 7 days" }).waitFor();
  expect(await use()).toBe(200);

  await press(row.filter({ hasText: "expires in 7 days" }).getByRole("button", { name: "Revoke" }));
  await press(page.getByRole("button", { name: "Revoke key" }));
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(use, { timeout: 20_000 }).toBe(401);
});
