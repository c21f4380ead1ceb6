import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";
import { bothLooks, narrow, phone } from "./support/looks.ts";

const dashboard = openDashboard();
const owner = { email: "ada@example.com", password: "correct horse battery" };
const tab = (name: string) => `${dashboard.url}/app/settings?tab=${name}`;

/** Each width once, each theme once. */
async function expectGood(page: Page): Promise<void> {
  for (const { viewport, colorScheme } of bothLooks.toReversed()) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await expectFitting(page);
    await expectAccessible(page);
  }
}

/** The first test makes the owner by hand; each of the others stands alone as well. */
async function ensureOwner(): Promise<void> {
  const link = await dashboard.server.admin.ownerLink({ isNew: false });
  if (link === null) return;
  const body = JSON.stringify({ token: link.slice(link.lastIndexOf("/") + 1), name: "Ada", ...owner });
  const headers = { origin: dashboard.url, "content-type": "application/json" };
  await fetch(`${dashboard.url}/dashboard/api/auth/accept`, { method: "POST", headers, body });
}

async function logIn(page: Page, who = owner): Promise<void> {
  await ensureOwner();
  await page.goto(`${dashboard.url}/app`);
  await page.getByLabel("E-mail address").fill(who.email);
  await page.getByLabel("Password").fill(who.password);
  await page.getByLabel("Password").press("Enter");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}

it("leads from the console's link to an owner, a project, a key and a first pull request, by the keyboard", async () => {
  dashboard.expectComplaint(/40[01]/);
  const page = await dashboard.visit();
  await page.goto(`${dashboard.url}/app/keys`);
  await page.getByText("has no owner yet").waitFor();
  await expectGood(page);

  const link = (await dashboard.server.admin.ownerLink({ isNew: false })) ?? "";
  await page.goto(link);
  await type(page.getByLabel("E-mail address"), owner.email);
  await type(page.getByLabel("Your name"), "Ada <b>Lovelace</b>");
  await type(page.getByLabel("Password"), "too short");
  await press(page.getByRole("button", { name: "Become the owner" }));
  // Refused in words, and nothing that was typed is lost.
  await page.getByRole("alert").getByText("at least 12").waitFor();
  expect(await page.getByLabel("E-mail address").inputValue()).toBe(owner.email);
  await expectGood(page);
  await type(page.getByLabel("Password"), owner.password);
  await page.keyboard.press("Enter");

  // From here on as on a phone.
  await page.setViewportSize(narrow);
  await page.getByRole("heading", { name: "Three steps" }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await page.getByText("emend project add").first().waitFor();
  await press(page.getByRole("button", { name: "Take the sample docs" }));
  await page.locator("button:enabled", { hasText: "Make a key" }).waitFor();
  await press(page.getByRole("button", { name: "Make a key" }));
  const key = await page.getByText(/^emend_\w+$/).textContent();
  await page.getByText(`-H "Authorization: Bearer ${key}"`).first().waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "Run it" }));
  await page.getByText(/^Opened #1 /).waitFor({ timeout: 60_000 });
  await page.goto(`${dashboard.url}/app/start`);
  await page.getByRole("heading", { name: "All set" }).waitFor();

  dashboard.expectComplaint(/410/);
  const late = await dashboard.visit();
  expect((await late.goto(link))?.status()).toBe(410);
  await late.goto(`${dashboard.url}/app/welcome#${link.slice(link.lastIndexOf("/") + 1)}`);
  await late.getByRole("heading", { name: "has been used" }).waitFor();
  await expectAccessible(late);
});

it("logs in by the keyboard, says what is wrong, and goes on where one was, on a phone and at a desk", async () => {
  dashboard.expectComplaint(/401/);
  await ensureOwner();
  const page = await dashboard.visit(phone);
  await page.goto(`${dashboard.url}/app/projects`);
  await type(page.getByLabel("E-mail address"), owner.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("is wrong").waitFor();
  expect(await page.getByLabel("E-mail address").inputValue()).toBe(owner.email);
  await expectGood(page);
  await type(page.getByLabel("Password"), owner.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Projects" }).waitFor();
  await press(page.getByRole("button", { name: "Log out" }));
  await page.getByRole("heading", { name: "Log in" }).waitFor();
});

it("invites a viewer, who reads and no more, and whom removing logs out at once", async () => {
  dashboard.expectComplaint(/401|409/);
  const page = await dashboard.visit();
  await logIn(page);
  await go(page, tab("members"));
  await press(page.getByRole("button", { name: "Invite somebody" }));
  await type(page.getByRole("dialog").getByLabel("E-mail address"), "bo@example.com");
  await press(page.getByRole("button", { name: "Make the link" }));
  const link = (await page.getByRole("dialog").locator("code").first().textContent()) ?? "";
  await press(page.getByRole("button", { name: "I have it" }));

  const guest = await dashboard.visit(phone);
  await guest.goto(link);
  await type(guest.getByLabel("Your name"), "Bo");
  await type(guest.getByLabel("Password"), "another long password");
  await press(guest.getByRole("button", { name: "Join" }));
  await guest.getByRole("navigation", { name: "Pages" }).waitFor();
  await go(guest, tab("members"));
  await guest.getByText("viewer, who may look").waitFor();
  expect(await guest.getByText("Audit log").count()).toBe(0);
  await go(guest, tab("account"));
  await guest.getByLabel("Current password").fill("another long password");

  await page.reload();
  await choose(page.getByLabel("Role of bo@example.com"), "m");
  await expect.poll(() => page.getByLabel("Role of bo@example.com").isEnabled()).toBe(true);
  await choose(page.getByLabel("Role of ada@example.com"), "v");
  await page.getByRole("alert").getByText("last owner").waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "Remove bo@example.com" }));
  await press(page.getByRole("dialog").getByRole("button", { name: "Remove" }));
  await page.getByLabel("Role of bo@example.com").waitFor({ state: "detached" });

  await guest.getByLabel("New password").fill("yet another long password");
  await guest.getByRole("button", { name: "Change password" }).click();
  await guest.getByRole("status").getByText("Your session has ended").waitFor();
  expect(await guest.getByLabel("Current password").inputValue()).toBe("another long password");
  await guest.getByRole("button", { name: "Log in again" }).click();
  await guest.getByRole("dialog").getByLabel("E-mail address").fill(owner.email);
  await guest.getByRole("dialog").getByLabel("Password").fill(owner.password);
  await guest.getByRole("dialog").getByLabel("Password").press("Enter");
  await guest.getByRole("status").getByText("Your session has ended").waitFor({ state: "detached" });
  expect(await guest.getByLabel("Current password").inputValue()).toBe("another long password");
});

it("logs out everywhere else, sets the retention, and shows in the audit log who did it, by the keyboard", async () => {
  dashboard.expectComplaint(/401/);
  const elsewhere = await dashboard.visit();
  await logIn(elsewhere);
  const page = await dashboard.visit();
  await logIn(page);
  await go(page, tab("account"));
  await page.getByText("Another browser").first().waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "Log out everywhere else" }));
  await page.getByText("Logged out everywhere else.").waitFor();
  expect(await page.getByText("Another browser").count()).toBe(0);
  await elsewhere.reload();
  await elsewhere.getByRole("heading", { name: "Log in" }).waitFor();

  await press(page.getByRole("link", { name: "Installation" }));
  await choose(page.getByLabel("Archive finished jobs"), "After");
  await type(page.getByLabel("Days"), "45");
  await press(page.getByRole("button", { name: "Save" }));
  await page.getByText("Saved.").waitFor();
  await page.reload();
  expect(await page.getByLabel("Days").inputValue()).toBe("45");

  await page.setViewportSize(narrow);
  await press(page.getByRole("link", { name: "Audit log" }));
  await page.getByText("after days: 45").waitFor();
  await page.getByText("Logged out everywhere else:").waitFor();
  await expectGood(page);
  await choose(page.getByLabel("What"), "Mem");
  await page.getByText("maintainer").first().waitFor();
  expect(await page.getByText("after days: 45").count()).toBe(0);
  const [download] = await Promise.all([page.waitForEvent("download"), press(page.getByRole("link", { name: "CSV" }))]);
  expect(download.suggestedFilename()).toBe("emend-audit.csv");
});
