import { totpCode } from "@emend/testkit/totp-code.ts";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectAccessible, expectGood } from "./support/judge.ts";
import { press, type } from "./support/keyboard.ts";
import type { Look } from "./support/looks.ts";

const dashboard = openDashboard();
const password = "correct horse battery";

/** A new member who has just joined by a link, on the account page. */
async function join(look: Look, name: string): Promise<{ page: Page; email: string }> {
  const email = `${name}@${look.name}.example.com`;
  const { link } = await dashboard.server.admin.inviteMember({ email, role: "owner" });
  const page = await dashboard.visit(look);
  await page.goto(link);
  await type(page.getByLabel("Your name"), name);
  await type(page.getByLabel("Password"), password);
  await press(page.getByRole("button", { name: "Join" }));
  await press(page.getByRole("link", { name: /^Settings/ }));
  await page.getByRole("heading", { name: "Second factor" }).waitFor();
  return { page, email };
}

async function logOut(page: Page): Promise<void> {
  await press(page.getByRole("button", { name: "Log out" }));
  await page.getByRole("heading", { name: "Log in" }).waitFor();
}

async function logIn(page: Page, email: string): Promise<void> {
  await page.goto(`${dashboard.url}/app/settings`);
  await type(page.getByLabel("Email address"), email);
  await type(page.getByLabel("Password"), password);
  await page.keyboard.press("Enter");
  await page.getByLabel("Code").waitFor();
}

journey("sets up an app, logs in with its code and with a recovery code, and removes it", async (look) => {
  dashboard.expectComplaint(/40[019]/);
  const { page, email } = await join(look, "cy");
  await press(page.getByRole("button", { name: "Set up" }));
  const dialog = page.getByRole("dialog");
  const code = dialog.getByRole("textbox", { name: "Code" });
  await dialog.getByRole("img", { name: "QR code" }).waitFor();
  const key = (await dialog.locator("code").textContent())?.replaceAll(" ", "") ?? "";
  await expectAccessible(page, "dialog");
  await type(code, "000000");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("The code is wrong").waitFor();
  await type(code, totpCode(key));
  await page.keyboard.press("Enter");
  await dialog.getByText("Save your recovery codes").waitFor();
  const [recoveryCode = ""] = await dialog.getByRole("listitem").allTextContents();
  await expectAccessible(page, "dialog");
  await press(dialog.getByRole("button", { name: "Done" }));
  await page.getByText("10 left.").waitFor();
  await expectGood(page);

  await logOut(page);
  await logIn(page, email);
  await expectGood(page);
  await type(page.getByLabel("Code"), "000000");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("wrong or was used").waitFor();
  await press(page.getByRole("button", { name: "Start again" }));
  await page.getByLabel("Password").waitFor();
  await logIn(page, email);
  await type(page.getByLabel("Code"), totpCode(key, 1));
  await page.keyboard.press("Enter");
  await page.getByText("by password and authenticator app").waitFor();

  await logOut(page);
  await logIn(page, email);
  await type(page.getByLabel("Code"), recoveryCode);
  await page.keyboard.press("Enter");
  await page.getByText("9 left.").waitFor();

  // Later, a change asks first.
  const { pool } = dashboard.installation.database;
  await pool.query("update sessions set proved_at = proved_at - interval '11 minutes'");
  await pool.query("update authenticator_apps set last_step = 0");
  await page.reload();
  await press(page.getByRole("button", { name: "Remove" }));
  await dialog.getByText("Confirm that it is you").waitFor();
  await expectAccessible(page, "dialog");
  await type(code, totpCode(key));
  await page.keyboard.press("Enter");
  await press(dialog.getByRole("button", { name: "Remove" }));
  await page.getByText("Off. An app on your phone").waitFor();
  expect(await page.getByText("Recovery codes").count()).toBe(0);
});
