import { expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { expectFitting } from "./support/judge.ts";
import { bothLooks } from "./support/looks.ts";

const dashboard = openDashboard();

it.each(bothLooks)("shows a new key once; it works until it is revoked: $name", async (look) => {
  const { id } = await dashboard.addSample(`Sample on a ${look.name}`);
  const page = await dashboard.logIn(look, "/app/keys");
  const name = `release script on a ${look.name}`;
  await page.getByText(id, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  for (const box of await dialog.getByRole("checkbox").all()) await box.check();
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByRole("dialog", { name: "Your new key" }).locator("code").first().textContent()) ?? "";
  expect(key).toMatch(/^emend_/);
  await page.getByRole("button", { name: "I have it" }).click();
  const row = page.getByRole("listitem").filter({ hasText: name });
  await row.waitFor();
  expect(await page.getByText(key).count()).toBe(0);
  await expectFitting(page);

  const use = async () =>
    (await fetch(`${dashboard.url}/v2/agent/${id}/jobs`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await use()).toBe(200);

  await row.getByRole("button", { name: "Rotate" }).click();
  await page.getByLabel("The old key ends").selectOption("7");
  await page.getByRole("button", { name: "Rotate key" }).click();
  await page.getByRole("dialog", { name: "Your new key" }).getByText("works for 7 more days").waitFor();
  await page.getByRole("button", { name: "I have it" }).click();
  await row.filter({ hasText: "expires in 7 days" }).waitFor();
  expect(await use()).toBe(200);

  await row.filter({ hasText: "expires in 7 days" }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(use, { timeout: 10_000 }).toBe(401);
});
