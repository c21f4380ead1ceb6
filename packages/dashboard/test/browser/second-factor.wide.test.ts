// Costly: passkeys are a browser's.
import { totpCode } from "@emend/testkit/totp-code.ts";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectAccessible, expectGood } from "./support/judge.ts";
import { press, type } from "./support/keyboard.ts";
import type { Look } from "./support/looks.ts";

// Passkeys need a name.
const dashboard = openDashboard({}, { host: "localhost" });
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

async function enterPassword(page: Page, email: string): Promise<void> {
  await page.goto(`${dashboard.url}/app/settings`);
  await type(page.getByLabel("Email address"), email);
  await type(page.getByLabel("Password"), password);
  await page.keyboard.press("Enter");
}

async function logIn(page: Page, email: string): Promise<void> {
  await enterPassword(page, email);
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

/** Chromium's own authenticator in software: internal, with a check of the person that succeeds. */
async function addAuthenticator(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    verifies: (isUserVerified: boolean) =>
      session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    credentials: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    add: (credential: object) =>
      session.send("WebAuthn.addCredential", { authenticatorId, credential: credential as never }),
  };
}

journey("adds a passkey, logs in with it alone and after the password, renames and removes it", async (look) => {
  dashboard.expectComplaint(/40[019]/);
  const { page, email } = await join(look, "di");
  const authenticator = await addAuthenticator(page);
  const dialog = page.getByRole("dialog");
  await press(page.getByRole("button", { name: "Add passkey" }));
  await type(dialog.getByLabel("Name"), "Work <b>laptop</b>");
  await expectAccessible(page, "dialog");
  await page.keyboard.press("Enter");
  await dialog.getByText("Save your recovery codes").waitFor();
  await press(dialog.getByRole("button", { name: "Done" }));
  await page.getByRole("listitem").getByText("Work <b>laptop</b>").waitFor();
  await expectGood(page);
  const [credential] = await authenticator.credentials();
  expect(credential).toMatchObject({ rpId: "localhost", isResidentCredential: true, userName: email });
  // The same device again.
  await press(page.getByRole("button", { name: "Add passkey" }));
  await type(dialog.getByLabel("Name"), "Again");
  await page.keyboard.press("Enter");
  await dialog.getByRole("alert").getByText("has a passkey").waitFor();
  await press(dialog.getByRole("button", { name: "Cancel" }));

  await logOut(page);
  await page.goto(`${dashboard.url}/app/settings`);
  const alone = page.getByRole("button", { name: "Log in with a passkey" });
  await alone.waitFor();
  await expectGood(page);
  await press(alone);
  await page.getByText("logged in by passkey").waitFor();

  await logOut(page);
  await enterPassword(page, email);
  const second = page.getByRole("button", { name: "Use a passkey" });
  await second.waitFor();
  await expectGood(page);
  // Without a fingerprint or PIN it is refused, and the step stays.
  await authenticator.verifies(false);
  await press(second);
  await page.getByRole("alert").getByText("No passkey was used").waitFor();
  await authenticator.verifies(true);
  await press(second);
  await page.getByText("logged in by password and passkey").waitFor();

  // A change that comes later asks for it again.
  const { pool } = dashboard.installation.database;
  await pool.query("update sessions set proved_at = proved_at - interval '11 minutes'");
  await page.reload();
  await press(page.getByRole("button", { name: /^Rename Work/ }));
  await type(dialog.getByLabel("Name"), "Phone");
  await page.keyboard.press("Enter");
  await press(page.getByRole("button", { name: "Remove Phone" }));
  await dialog.getByText("Confirm that it is you").waitFor();
  await press(dialog.getByRole("button", { name: "Use a passkey" }));
  await dialog.getByText("Remove the passkey Phone?").waitFor();
  await press(dialog.getByRole("button", { name: "Remove" }));
  await page.getByRole("button", { name: "Remove Phone" }).waitFor({ state: "detached" });

  await logOut(page);
  await enterPassword(page, email);
  await page.getByText("logged in by password").waitFor();
});

journey("refuses a passkey that was copied, and one of somebody else after a password", async (look) => {
  dashboard.expectComplaint(/40[019]/);
  const ada = await join(look, "ed");
  const adas = await addAuthenticator(ada.page);
  await addPasskey(ada.page);
  const bo = await join(look, "flo");
  const bos = await addAuthenticator(bo.page);
  await addPasskey(bo.page);
  const [copied] = await adas.credentials();
  if (!copied) throw new Error("no passkey");

  await logOut(ada.page);
  await ada.page.goto(`${dashboard.url}/app/settings`);
  await press(ada.page.getByRole("button", { name: "Log in with a passkey" }));
  await ada.page.getByText("logged in by passkey").waitFor();

  // A copy of before: its counter is behind.
  const thief = await dashboard.visit(look);
  const thiefs = await addAuthenticator(thief);
  await thiefs.add({ ...copied, signCount: 0 });
  await thief.goto(`${dashboard.url}/app/settings`);
  await press(thief.getByRole("button", { name: "Log in with a passkey" }));
  await thief.getByRole("alert").getByText("was not accepted").waitFor();

  // The browser offers only passkeys of the person whose password it was.
  await logOut(bo.page);
  const [own] = await bos.credentials();
  expect(own?.userName).toBe(bo.email);
  await enterPassword(bo.page, ada.email);
  await press(bo.page.getByRole("button", { name: "Use a passkey" }));
  await bo.page.getByRole("alert").getByText("No passkey was used").waitFor();
});

journey(
  "requires a second factor of everybody: a session ends, and the next login sets up a passkey or an app",
  async (look) => {
    dashboard.expectComplaint(/40[019]/);
    const { pool } = dashboard.installation.database;
    const owner = await join(look, "gus");
    const member = await join(look, "hal");
    const dialog = owner.page.getByRole("dialog");
    const require = async () => {
      await owner.page.goto(`${dashboard.url}/app/settings?tab=installation`);
      await press(owner.page.getByRole("button", { name: "Require a second factor" }));
      await dialog.getByText("no second factor. Their sessions end now").waitFor();
      await expectAccessible(owner.page, "dialog");
      await press(dialog.getByRole("button", { name: "Require" }));
    };
    await require();
    await dialog.getByRole("alert").getByText("Set up a second factor for yourself first").waitFor();
    await addAuthenticator(owner.page);
    await owner.page.goto(`${dashboard.url}/app/settings`);
    await addPasskey(owner.page);
    await require();
    await owner.page.getByText("Required for logins").waitFor();
    await expectGood(owner.page);
    await owner.page.goto(`${dashboard.url}/app/settings?tab=members`);
    await owner.page.getByText(`${owner.email} · second factor`).waitFor();

    // The member's session has ended. The next login adds a passkey.
    const { page } = member;
    const authenticator = await addAuthenticator(page);
    await enterPassword(page, member.email);
    await page.getByText("requires a second factor").waitFor();
    await expectGood(page);
    await press(page.getByRole("button", { name: "Add a passkey" }));
    await type(page.getByLabel("Name"), "Laptop");
    await expectGood(page);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Save your recovery codes").waitFor();
    await expectAccessible(page, "dialog");
    await press(page.getByRole("dialog").getByRole("button", { name: "Done" }));
    await page.getByText("logged in by password and passkey").waitFor();
    expect(await authenticator.credentials()).toHaveLength(1);
    await press(page.getByRole("button", { name: "Remove Laptop" }));
    await press(page.getByRole("dialog").getByRole("button", { name: "Remove" }));
    await page.getByRole("alert").getByText("this is your last one").waitFor();

    // Somebody who joins sets up an app.
    const { link } = await dashboard.server.admin.inviteMember({
      email: `ivy@${look.name}.example.com`,
      role: "viewer",
    });
    const ivy = await dashboard.visit(look);
    await ivy.goto(link);
    await type(ivy.getByLabel("Your name"), "Ivy");
    await type(ivy.getByLabel("Password"), password);
    await press(ivy.getByRole("button", { name: "Join" }));
    await press(ivy.getByRole("button", { name: "Set up an authenticator app" }));
    await ivy.getByRole("img", { name: "QR code" }).waitFor();
    await expectGood(ivy);
    const key = (await ivy.locator("code").textContent())?.replaceAll(" ", "") ?? "";
    await type(ivy.getByRole("textbox", { name: "Code" }), totpCode(key));
    await ivy.keyboard.press("Enter");
    await press(ivy.getByRole("dialog").getByRole("button", { name: "Done" }));
    await ivy.getByRole("link", { name: /^Settings/ }).waitFor();
    // The other tests' people have none.
    await pool.query("delete from settings");
  },
);

async function addPasskey(page: Page): Promise<void> {
  const dialog = page.getByRole("dialog");
  await press(page.getByRole("button", { name: "Add passkey" }));
  await type(dialog.getByLabel("Name"), "Laptop");
  await page.keyboard.press("Enter");
  await press(dialog.getByRole("button", { name: "Done" }));
}
