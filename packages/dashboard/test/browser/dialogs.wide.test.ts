// Costly: focus, Escape and what is behind a dialog are a browser's.
import { clientOf } from "@emend/testkit/whole-server.ts";
import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectGood } from "./support/judge.ts";
import { press, reach, type } from "./support/keyboard.ts";
import { take } from "./support/looks.ts";
import { addJob } from "./support/tell-job.ts";

const dashboard = openDashboard();
let projectId: string;
let activeId: string;
/** One visitor for all: another file covers logging in. */
let page: Page;

beforeAll(async () => {
  const { admin } = dashboard.server;
  projectId = (await dashboard.addSample("Courier docs")).id;
  const { key } = await admin.createKey({ projectIds: [projectId], name: "CI", scope: "write" });
  const client = clientOf(dashboard.server, projectId, key);
  await client.untilFinal((await client.create({ prompt: "Fix broken links." })).id);
  activeId = await addJob(dashboard.installation.database.pool, projectId, "Fix broken links.");
  await dashboard.installation.database.pool.query(
    "insert into context_repositories (id, project_id, name, forge, repository_url) values ('ctx_1', $1, 'courier-server', 'github', 'https://github.com/courier/server')",
    [projectId],
  );
  await admin.carryOut("webhooks.add", { projectId, url: "https://hooks.example.com/x", events: ["job.completed"] });
  await admin.automations.add({
    projectId,
    name: "Links",
    prompt: "Fix broken links.",
    trigger: { kind: "cron", expression: "0 9 * * 1", timezone: "UTC" },
    createdBy: "test",
  });
  await dashboard.installation.database.pool.query(
    "insert into users (id, email, name, role) values ('1', 'bo@example.com', 'Bo', 'viewer')",
  );
  page = await dashboard.logIn();
  dashboard.keep(page);
});

const opener = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).first();
const keys = (name: string) => ({ path: "/app/keys", name });
const tab = (which: string, name: string) => ({ path: `/app/projects/PROJECT?tab=${which}`, name });
const pull = (name: string) => ({ path: "/app/pulls/PROJECT/1", name });
const members = (name: string) => ({ path: "/app/settings?tab=members", name });

/** By the button that opens each. Add a line for a new one. */
const dialogs: readonly { path: string; name: string }[] = [
  keys("Create key"),
  keys("Rotate"),
  keys("Revoke"),
  tab("general", "Remove project"),
  tab("guidance", "Add repository"),
  tab("guidance", "Remove"),
  tab("automations", "Add automation"),
  tab("automations", "Edit"),
  tab("automations", "Remove"),
  tab("webhooks", "Add webhook"),
  tab("webhooks", "Rotate secret"),
  tab("webhooks", "Remove"),
  members("Invite member"),
  members("Remove bo@example.com"),
  pull("Approve"),
  pull("Request changes"),
  pull("Merge"),
  pull("Close"),
  { path: "/app/jobs/ACTIVE", name: "Cancel" },
  { path: "/app", name: "Saved prompts" },
];

/** Records elements behind the dialog that get the focus. */
const watchFocus = `focusBehind = [];
  document.addEventListener("focusin", ({ target }) => {
    if (!target.closest("dialog")) focusBehind.push(target.outerHTML);
  });`;

journey("opens every dialog by the keyboard, without a serious fault, and gives the focus back", async (look) => {
  await take(page, look);
  for (const { path, name } of dialogs) {
    const url = dashboard.url + path.replace("PROJECT", projectId).replace("ACTIVE", activeId);
    if (page.url() !== url) await go(page, url);
    await press(opener(page, name));
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await expectGood(page, "dialog");
    // The focus cannot leave the dialog: after its last stop comes the browser's own interface, then its first stop again.
    await page.evaluate(watchFocus);
    await Promise.all(Array.from({ length: 12 }, () => page.keyboard.press("Tab")));
    expect(await page.evaluate("focusBehind"), name).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await opener(page, name).evaluate((element) => element.matches(":focus")), name).toBe(true);
  }
});

journey("shows the palette, the keys, and what is shown once without a serious fault", async (look) => {
  await take(page, look);
  await go(page, "/app");
  await page.getByLabel("Search jobs").waitFor();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Help" });
  await help.waitFor();
  await help.getByText(/^Emend \d+\.\d+\.\d+$/).waitFor();
  expect(await help.getByRole("link", { name: "Docs" }).getAttribute("href")).toBe("/app/docs/index");
  await expectGood(page, "dialog");
  const paper = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const before = await paper();
  const theme = (name: string) => help.getByRole("button", { name, exact: true });
  await press(theme(look.colorScheme === "dark" ? "Light" : "Dark"));
  const other = await paper();
  expect(other).not.toBe(before);
  await page.reload();
  await page.getByLabel("Search jobs").waitFor();
  expect(await paper(), "kept over a reload").toBe(other);
  await page.keyboard.press("?");
  await press(theme("System"));
  expect(await paper()).toBe(before);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("cour");
  await page.getByRole("dialog").getByRole("option", { name: "Courier docs project", selected: true }).waitFor();
  await expectGood(page, "dialog");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Courier docs" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  // Parts of a project and of the settings are places, too.
  for (const [words, place, heading] of [
    ["automations cour", /^Automations/, "Automations"],
    ["policy", /^Policy/, "What a job may change"],
    ["members", /^Members/, "Settings"],
  ] as const) {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(words);
    await page.getByRole("dialog").getByRole("option", { name: place, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: heading, exact: true }).first().waitFor();
  }

  await go(page, "/app/keys");
  await press(opener(page, "Create key"));
  const dialog = page.getByRole("dialog");
  await type(dialog.getByLabel("Name", { exact: true }), "Release script");
  await press(dialog.getByRole("button", { name: "Create key" }));
  await page.getByRole("dialog", { name: "Your new key" }).waitFor();
  await expectGood(page, "dialog");
  await press(page.getByRole("button", { name: "Done" }));

  await go(page, "/app/settings?tab=members");
  await press(opener(page, "Invite member"));
  await type(page.getByLabel("Email address"), `cy@${look.name}.example.com`);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Send this link" }).waitFor();
  await expectGood(page, "dialog");

  await go(page, `/app/projects/${projectId}?tab=webhooks`);
  await press(opener(page, "Add webhook"));
  await reach(page.getByLabel("Address"));
  await page.keyboard.type("https://example.com/hook");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Webhook secret" }).waitFor();
  await expectGood(page, "dialog");

  // An expired session.
  dashboard.expectComplaint(/401/);
  await page.route("**/operations/webhooks.remove", (route) =>
    route.fulfill({ status: 401, json: { error: "Ended." } }),
  );
  await press(page.getByRole("button", { name: "Done" }));
  await press(opener(page, "Remove"));
  await press(page.getByRole("button", { name: "Remove webhook" }));
  await page.getByRole("dialog", { name: "Log in again" }).waitFor();
  await expectGood(page, "dialog");
  await page.keyboard.press("Escape");
});
