import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { startFarEnd } from "../../../server/test/support/forges/far-end.ts";
import { vendors } from "../../../server/test/support/forges/vendors.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../../server/test/support/webhook-receiver.ts";
import { openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";
import { narrow, wide } from "./support/looks.ts";

const dashboard = openDashboard({ EMEND_ALLOW_PRIVATE_WEBHOOKS: "true", EMEND_ALLOW_PRIVATE_FORGES: "true" });
let receiver: WebhookReceiver;
/** One visitor for all: to log in is another file's. */
let page: Page;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  page = await dashboard.logIn();
  dashboard.keep(page);
});
beforeEach(() => page.setViewportSize(wide));
afterAll(async () => {
  receiver.close();
});

it("adds, changes and removes one of the local forge by the keyboard alone, at a desk and on a phone", async () => {
  await go(page, "/app/projects");
  await press(page.getByRole("link", { name: "Add project" }));
  const name = "Handbook of ours";
  await type(page.getByLabel("Name", { exact: true }), name);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name }).waitFor();

  await type(page.getByLabel("Dollars a job"), "0.5");
  await page.keyboard.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.setViewportSize(narrow);
  await press(page.getByRole("link", { name: "Policy" }));
  await type(page.getByLabel("Further paths that may change"), ".github/labels.yml\n\nCODEOWNERS");
  await press(page.getByLabel("Sign off"), "Space");
  await press(page.getByRole("button", { name: "Save" }));
  await page.getByText("Saved", { exact: true }).waitFor();
  const project = (await dashboard.server.admin.listProjects()).find((each) => each.name === name);
  expect(project?.settings).toMatchObject({
    limits: { costUsdMax: 0.5, stepsMax: 60 },
    policy: { allowedPaths: [".github/labels.yml", "CODEOWNERS"] },
    commit: { signOff: true, authorName: "Emend" },
  });

  await press(page.getByRole("link", { name: "General" }));
  await press(page.getByRole("button", { name: "Remove project" }));
  const dialog = page.getByRole("dialog");
  await type(dialog.getByLabel("Name of the project"), "Handbook");
  expect(await dialog.getByRole("button", { name: "Remove project" }).isEnabled()).toBe(false);
  await type(dialog.getByLabel("Name of the project"), name);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${dashboard.url}/app/projects`);
  expect((await dashboard.server.admin.listProjects()).some((each) => each.name === name)).toBe(false);
  await page.getByText(name).waitFor({ state: "detached" });
});

it("adds, runs, edits, pauses and removes an automation by the keyboard, at a desk and on a phone", async () => {
  const { id } = await dashboard.addSample("Asked");
  await page.goto(`${dashboard.url}/app/projects/${id}?tab=automations`);
  await page.getByText("asked for by itself").waitFor();
  await press(page.getByRole("button", { name: "Add automation" }));
  const dialog = page.getByRole("dialog");
  await type(dialog.getByLabel("Name", { exact: true }), "Links <b>on Mondays</b>");
  await choose(dialog.getByLabel("When"), "At");
  await type(dialog.getByLabel("Times"), "often");
  await type(dialog.getByLabel("What it asks for"), "Fix broken links.");
  dashboard.expectComplaint(/400/);
  await press(dialog.getByRole("button", { name: "Add automation" }));
  await dialog.getByRole("alert").waitFor();
  expect(await dialog.getByLabel("Name", { exact: true }).inputValue()).toBe("Links <b>on Mondays</b>");
  await type(dialog.getByLabel("Times"), "0 9 * * 1");
  await press(dialog.getByRole("button", { name: "Add automation" }));
  const row = page.getByRole("listitem").filter({ hasText: "Links <b>on Mondays</b>" });
  await row.getByText("at 0 9 * * 1").waitFor();

  await press(row.getByRole("button", { name: "Run now" }));
  await row.getByText("Started").waitFor();
  await row.getByRole("link", { name: "The job" }).waitFor();
  await expectFitting(page);
  await expectAccessible(page);
  await page.setViewportSize(narrow);
  await expectFitting(page);
  await press(row.getByRole("button", { name: "Edit" }));
  await type(dialog.getByLabel("What it asks for"), "Fix broken links by {{date}}.");
  await press(dialog.getByRole("button", { name: "Save automation" }));
  await row.getByText("Fix broken links by {{date}}.").waitFor();
  await press(row.getByRole("button", { name: "Pause" }));
  await row.getByText("Paused").waitFor();
  await press(row.getByRole("button", { name: "Resume" }));
  await row.getByText("Paused").waitFor({ state: "detached" });
  await press(row.getByRole("button", { name: "Remove" }));
  await press(dialog.getByRole("button", { name: "Remove automation" }));
  await row.waitFor({ state: "detached" });
});

it("says in words what a setting may not be, and keeps what was typed", async () => {
  dashboard.expectComplaint(/400/);
  const { id } = await dashboard.addSample("Strict");
  await page.goto(`${dashboard.url}/app/projects/${id}?tab=policy`);
  await page.getByLabel("Branches begin with").fill("..");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("branch name that git takes").waitFor();
  expect(await page.getByLabel("Branches begin with").inputValue()).toBe("..");
});

it("keeps what was typed while the server is away or fails, and saves it afterwards", async () => {
  dashboard.expectComplaint(/ERR_FAILED|503/);
  const { id } = await dashboard.addSample("Away");
  await page.goto(`${dashboard.url}/app/projects/${id}`);
  const steps = page.getByLabel("Steps a job");
  await steps.fill("7");
  await page.route(`**/api/projects/${id}`, (route) => route.abort());
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("cannot be reached").waitFor();
  await page.unroute(`**/api/projects/${id}`);
  await page.route(`**/api/projects/${id}`, (route) =>
    route.fulfill({ status: 503, json: { error: "The database is away." } }),
  );
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("The database is away.").waitFor();
  expect(await steps.inputValue()).toBe("7");
  await page.unroute(`**/api/projects/${id}`);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
});

/** Each forge once, each width once or more. */
const connections = vendors.map((vendor, index) => ({ vendor, viewport: index % 2 === 0 ? wide : narrow }));

it.each(connections)("connects one of $vendor.name by the keyboard, and tells a wrong token in words", async (each) => {
  dashboard.expectComplaint(/400/);
  const far = await startFarEnd(each.vendor);
  onTestFinished(() => far.close());
  await page.setViewportSize(each.viewport);
  await go(page, "/app/projects/new");
  await type(page.getByLabel("Name", { exact: true }), `Far docs on ${each.vendor.name}`);
  await choose(page.getByLabel("Where its repository is"), each.vendor.name);
  await type(page.getByLabel("Address"), far.repositoryUrl);
  await type(page.getByLabel("Token", { exact: true }), "wrong");
  await press(page.getByRole("button", { name: "Add project" }));
  await page.getByRole("alert").waitFor();
  expect(await page.getByLabel("Address").inputValue()).toBe(far.repositoryUrl);
  await type(page.getByLabel("Token", { exact: true }), far.token);
  await press(page.getByRole("button", { name: "Add project" }));

  await press(page.getByRole("button", { name: "Test connection" }));
  await page.getByText(`reads ${far.state.path}`).waitFor();
  await page.getByText("the base is main at").waitFor();
  await expectFitting(page);
  await expectAccessible(page);

  await type(page.getByLabel("New token"), "stale");
  await press(page.getByRole("button", { name: "Replace token" }));
  await page.getByText("Problem").first().waitFor();
});

it("gives jobs a repository to read, and takes it away", async () => {
  const { id } = await dashboard.addSample("Docs");
  const code = await dashboard.addSample("Code");
  await page.goto(`${dashboard.url}/app/projects/${id}?tab=guidance`);
  await page.getByRole("button", { name: "Add repository" }).click();
  await page.getByLabel("Name", { exact: true }).fill("code");
  await page.getByLabel("Where it is").selectOption("local");
  await page.getByLabel("Id or address of the project").fill(code.id);
  await page.getByRole("dialog").getByRole("button", { name: "Add repository" }).click();
  await page.getByText("@code").waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove repository" }).click();
  await page.getByText("Code that the docs are about").waitFor();
});

it("posts to a webhook, shows how it went, and sends it again", async () => {
  const { id } = await dashboard.addSample("Told");
  await page.goto(`${dashboard.url}/app/projects/${id}?tab=webhooks`);
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByLabel("Address").fill(receiver.url);
  await page.getByRole("dialog").getByRole("button", { name: "Add webhook" }).click();
  await page
    .getByRole("dialog", { name: "The webhook's secret" })
    .getByText(/^whsec_/)
    .waitFor();
  await page.getByRole("button", { name: "I have it" }).click();

  await page.keyboard.press("c");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: "Told" });
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.getByRole("button", { name: "Start job" }).click();
  await receiver.message(1);
  await go(page, `/app/projects/${id}?tab=webhooks`);
  await page.getByRole("button", { name: "Deliveries" }).click();
  await page.getByText("Delivered").waitFor();
  await page.getByRole("button", { name: "Send again" }).click();
  await receiver.message(2);
  await expectAccessible(page);
});
