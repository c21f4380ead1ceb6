// Costly: sessions live in a browser's cookies.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectAccessible, expectGood } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";
import { desktop, type Look } from "./support/looks.ts";

const dashboard = openDashboard();
const owner = { email: "ada@example.com", password: "correct horse battery" };
const tab = (name: string) => `/app/settings?tab=${name}`;

/** The first test creates the owner by hand. Each of the others also runs alone. */
async function ensureOwner(): Promise<void> {
  const link = await dashboard.server.admin.ownerLink({ isNew: false });
  if (link === null) return;
  const body = JSON.stringify({ token: link.slice(link.lastIndexOf("/") + 1), name: "Ada", ...owner });
  const headers = { origin: dashboard.url, "content-type": "application/json" };
  await fetch(`${dashboard.url}/dashboard/api/auth/accept`, { method: "POST", headers, body });
}

/** A visitor who is logged in as the owner. Another test covers creating one. */
async function enter(look: Look, path: string): Promise<Page> {
  await ensureOwner();
  const page = await dashboard.visit(look);
  await openSession(page);
  await page.goto(dashboard.url + path);
  return page;
}

async function openSession(page: Page): Promise<void> {
  const headers = { origin: dashboard.url };
  await page.request.post(`${dashboard.url}/dashboard/api/auth/login`, { headers, data: owner });
}

journey("leads from the console's link to an owner, a project, a key and a first pull request", async (look) => {
  dashboard.expectComplaint(/40[01]/);
  await dashboard.reset();
  const page = await dashboard.visit(look);
  await page.goto(`${dashboard.url}/app/keys`);
  await page.getByText("has no owner yet").waitFor();
  await expectGood(page);

  const link = (await dashboard.server.admin.ownerLink({ isNew: true })) ?? "";
  await page.goto(link);
  await type(page.getByLabel("Email address"), owner.email);
  await type(page.getByLabel("Your name"), "Ada <b>Lovelace</b>");
  await type(page.getByLabel("Password"), "too short");
  await press(page.getByRole("button", { name: "Become the owner" }));
  // The refusal has a message, and the typed text stays.
  await page.getByRole("alert").getByText("at least 12").waitFor();
  expect(await page.getByLabel("Email address").inputValue()).toBe(owner.email);
  await expectGood(page);
  await type(page.getByLabel("Password"), owner.password);
  await page.keyboard.press("Enter");

  await page.getByRole("heading", { name: "Two steps" }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  // The browser's way comes first; commands are folded.
  await press(page.getByText("From the command line").first());
  await page.getByText("emend project add").first().waitFor();
  await press(page.getByRole("button", { name: "Use the sample docs" }));
  await page.locator("button:enabled", { hasText: "Create key" }).waitFor();
  await press(page.getByRole("button", { name: "Create key" }));
  const key = await page.getByText(/^emend_\w+$/).textContent();
  await page.getByText(`-H "Authorization: Bearer ${key}"`).last().waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "Run it" }));
  await page.getByText(/^Opened #1 /).waitFor({ timeout: 60_000 });
  await go(page, "/app/start");
  await page.getByRole("heading", { name: "All set" }).waitFor();
  await press(page.getByRole("link", { name: /^Pull request #1/ }));
  await page.getByText("Merges cleanly").waitFor();

  dashboard.expectComplaint(/410/);
  // The link works only once.
  expect((await page.goto(link))?.status()).toBe(410);
  await page.goto(`${dashboard.url}/app/welcome#${link.slice(link.lastIndexOf("/") + 1)}`);
  await page.getByRole("heading", { name: "This link is not valid" }).waitFor();
  await expectAccessible(page);
});

journey("logs in, says what is wrong, sets a forgotten password anew, and logs out", async (look) => {
  dashboard.expectComplaint(/401/);
  await ensureOwner();
  const page = await dashboard.visit(look);
  await page.goto(`${dashboard.url}/app/projects`);
  await type(page.getByLabel("Email address"), owner.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("is wrong").waitFor();
  expect(await page.getByLabel("Email address").inputValue()).toBe(owner.email);
  await expectGood(page);
  await type(page.getByLabel("Password"), owner.password);
  await page.keyboard.press("Enter");
  // After logging in, the visitor is back on the same page.
  await page.getByRole("heading", { name: "Projects" }).waitFor();
  await press(page.getByRole("button", { name: "Log out" }));
  await page.getByRole("heading", { name: "Log in" }).waitFor();

  await page.goto(await dashboard.server.admin.createResetLink(owner.email));
  await type(page.getByLabel("Password"), owner.password);
  await expectGood(page);
  await press(page.getByRole("button", { name: "Set password" }));
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
});

journey("invites a viewer, who reads and no more, and whom removing logs out at once", async (look) => {
  dashboard.expectComplaint(/401|409/);
  const email = `bo@${look.name}.example.com`;
  const page = await enter(look, tab("members"));
  await press(page.getByRole("button", { name: "Invite member" }));
  await type(page.getByRole("dialog").getByLabel("Email address"), email);
  await press(page.getByRole("button", { name: "Create link" }));
  const link = (await page.getByRole("dialog").locator("code").first().textContent()) ?? "";
  await press(page.getByRole("button", { name: "Done" }));

  const guest = await dashboard.visit(look);
  await guest.goto(link);
  await type(guest.getByLabel("Your name"), "Bo");
  await type(guest.getByLabel("Password"), "another long password");
  await press(guest.getByRole("button", { name: "Join" }));
  await press(guest.getByRole("link", { name: /^Settings/ }));
  await guest.getByText("viewer, who may look").waitFor();
  expect(await guest.getByText("Audit log").count()).toBe(0);
  await type(guest.getByLabel("Current password"), "another long password");

  await page.reload();
  await choose(page.getByLabel(`Role of ${email}`), "m");
  await expect.poll(() => page.getByLabel(`Role of ${email}`).isEnabled(), { timeout: 20_000 }).toBe(true);
  await choose(page.getByLabel("Role of ada@example.com"), "v");
  await page.getByRole("alert").getByText("last owner").waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: `Remove ${email}` }));
  await press(page.getByRole("dialog").getByRole("button", { name: "Remove" }));
  await page.getByLabel(`Role of ${email}`).waitFor({ state: "detached" });

  await type(guest.getByLabel("New password"), "yet another long password");
  await press(guest.getByRole("button", { name: "Change password" }));
  await guest.getByRole("status").getByText("Your session expired").waitFor();
  expect(await guest.getByLabel("Current password").inputValue()).toBe("another long password");
  await press(guest.getByRole("button", { name: "Log in again" }));
  await type(guest.getByRole("dialog").getByLabel("Email address"), owner.email);
  await type(guest.getByRole("dialog").getByLabel("Password"), owner.password);
  await guest.keyboard.press("Enter");
  await guest.getByRole("status").getByText("Your session expired").waitFor({ state: "detached" });
  await guest.getByRole("alert").waitFor({ state: "detached" });
  expect(await guest.getByLabel("Current password").inputValue()).toBe("another long password");
});

journey("logs out everywhere else, sets the retention, and audits both", async (look) => {
  // Other days in each look: the saved ones must be those typed in this look.
  const days = look === desktop ? "45" : "46";
  dashboard.expectComplaint(/401/);
  const elsewhere = await dashboard.visit(look);
  await ensureOwner();
  await openSession(elsewhere);
  const stateElsewhere = async () => (await elsewhere.request.get(`${dashboard.url}/dashboard/api/session`)).status();
  expect(await stateElsewhere()).toBe(200);
  const page = await enter(look, "/app/settings");
  await page.getByText("Another browser").first().waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "End other sessions" }));
  await page.getByText("Other sessions ended.").waitFor();
  expect(await page.getByText("Another browser").count()).toBe(0);
  expect(await stateElsewhere()).toBe(401);

  await press(page.getByRole("link", { name: "Installation" }));
  await choose(page.getByLabel("Archive finished jobs", { exact: true }), "After");
  const daysOf = (label: string) => page.getByRole("spinbutton", { name: `${label}: days` });
  await type(daysOf("Archive finished jobs"), days);
  await choose(page.getByLabel("Delete logs", { exact: true }), "After");
  await type(daysOf("Delete logs"), days);
  await press(page.getByRole("button", { name: "Save", exact: true }));
  await page.getByText("Saved.").waitFor();
  await page.reload();
  expect(await daysOf("Archive finished jobs").inputValue()).toBe(days);
  expect(await daysOf("Delete logs").inputValue()).toBe(days);

  await press(page.getByRole("link", { name: "Audit log" }));
  await page.getByText(`archive finished jobs after days: ${days}`).waitFor();
  await page.getByText("Ended other sessions:").first().waitFor();
  await expectGood(page);
  await choose(page.getByLabel("What"), "Mem");
  await page.getByText(`archive finished jobs after days: ${days}`).waitFor({ state: "detached" });
  await page.getByText("maintainer").first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), press(page.getByRole("link", { name: "CSV" }))]);
  expect(download.suggestedFilename()).toBe("emend-audit.csv");
});

journey("connects a directory whose groups give roles, and revokes its token", async (look) => {
  const group = look === desktop ? "Writers" : "Editors";
  const page = await enter(look, tab("directory"));
  await page.getByText("your identity provider adds people").or(page.getByText("never used")).first().waitFor();
  await expectGood(page);
  await press(page.getByRole("button", { name: "Create token" }));
  await type(page.getByRole("dialog").getByLabel("Name"), group);
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  const token =
    (await page
      .getByRole("dialog")
      .getByText(/^emend_\w{40,}$/)
      .textContent()) ?? "";
  await press(page.getByRole("button", { name: "Done" }));
  const asProvider = { headers: { authorization: `Bearer ${token}` } };
  const scim = `${dashboard.url}/scim/v2/Groups`;
  expect((await page.request.post(scim, { ...asProvider, data: { displayName: group, members: [] } })).status()).toBe(
    201,
  );

  await page.reload();
  await choose(page.getByLabel(`Group ${group}`), "M");
  await type(page.getByLabel("Another group"), `${group} of tomorrow`);
  await press(page.getByRole("button", { name: "Add group" }));
  await choose(page.getByLabel("People whose groups have no role"), "N");
  await press(page.getByRole("button", { name: "Save roles" }));
  await page.getByText("Saved.").waitFor();
  await expectGood(page);
  await page.reload();
  await expect.poll(() => page.getByLabel(`Group ${group}`, { exact: true }).inputValue()).toBe("maintainer");
  expect(await page.getByLabel(`Group ${group} of tomorrow`).inputValue()).toBe("viewer");
  expect(await page.getByLabel("People whose groups have no role").inputValue()).toBe("none");

  await press(page.getByRole("button", { name: `Revoke the token ${group}` }));
  await press(page.getByRole("dialog").getByRole("button", { name: "Revoke" }));
  await page.getByRole("button", { name: `Revoke the token ${group}` }).waitFor({ state: "detached" });
  expect((await page.request.get(scim, asProvider)).status()).toBe(401);
});
