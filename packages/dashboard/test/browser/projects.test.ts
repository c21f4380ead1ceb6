import { afterAll, beforeAll, expect, it } from "vitest";
import { type FarEnd, startFarEnd } from "../../../server/test/support/forges/far-end.ts";
import { giteaVendor } from "../../../server/test/support/forges/gitea.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../../server/test/support/webhook-receiver.ts";
import { openDashboard } from "./support/dashboard.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { bothLooks, desktop } from "./support/looks.ts";

const dashboard = openDashboard({ EMEND_ALLOW_PRIVATE_WEBHOOKS: "true" });
let far: FarEnd;
let receiver: WebhookReceiver;

beforeAll(async () => {
  far = await startFarEnd(giteaVendor);
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  receiver.close();
  await far.close();
});

it("adds one of the local forge by the keyboard alone, and changes what a job may do", async () => {
  const page = await dashboard.logIn(desktop, "/app/projects/new");
  await page.getByLabel("Name", { exact: true }).focus();
  await page.keyboard.type("Handbook");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Handbook" }).waitFor();

  await page.getByLabel("Dollars a job").fill("0.5");
  await page.getByLabel("Dollars a job").press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Policy" }).click();
  await page.getByLabel("Further paths that may change").fill(".github/labels.yml\n\nCODEOWNERS");
  await page.getByLabel("Sign off").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const [project] = await dashboard.server.admin.listProjects();
  expect(project?.settings).toMatchObject({
    limits: { costUsdMax: 0.5, stepsMax: 60 },
    policy: { allowedPaths: [".github/labels.yml", "CODEOWNERS"] },
    commit: { signOff: true, authorName: "Emend" },
  });
});

it("says in words what a setting may not be, and keeps what was typed", async () => {
  dashboard.expectComplaint(/400/);
  const { id } = await dashboard.addSample("Strict");
  const page = await dashboard.logIn(desktop, `/app/projects/${id}?tab=policy`);
  await page.getByLabel("Branches begin with").fill("..");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("branch name that git takes").waitFor();
  expect(await page.getByLabel("Branches begin with").inputValue()).toBe("..");
});

it("keeps what was typed while the server is away or fails, and saves it afterwards", async () => {
  dashboard.expectComplaint(/ERR_FAILED|503/);
  const { id } = await dashboard.addSample("Away");
  const page = await dashboard.logIn(desktop, `/app/projects/${id}`);
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

it.each(bothLooks)("connects one of another forge, and tells a wrong token in words: $name", async (look) => {
  dashboard.expectComplaint(/400/);
  const page = await dashboard.logIn(look, "/app/projects/new");
  await page.getByLabel("Name", { exact: true }).fill(`Far docs on a ${look.name}`);
  await page.getByLabel("Where its repository is").selectOption("gitea");
  await page.getByLabel("Address").fill(far.repositoryUrl);
  await page.getByLabel("Token", { exact: true }).fill("wrong");
  await page.getByRole("button", { name: "Add project" }).click();
  await page.getByRole("alert").waitFor();
  expect(await page.getByLabel("Address").inputValue()).toBe(far.repositoryUrl);
  await page.getByLabel("Token", { exact: true }).fill(far.token);
  await page.getByRole("button", { name: "Add project" }).click();

  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("reads acme/docs").waitFor();
  await page.getByText("the base is main at").waitFor();
  await expectFitting(page);
  await expectAccessible(page);

  await page.getByLabel("New token").fill("stale");
  await page.getByRole("button", { name: "Replace token" }).click();
  await page.getByText("Problem").first().waitFor();
});

it("gives jobs a repository to read, and takes it away", async () => {
  const { id } = await dashboard.addSample("Docs");
  const code = await dashboard.addSample("Code");
  const page = await dashboard.logIn(desktop, `/app/projects/${id}?tab=guidance`);
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
  const page = await dashboard.logIn(desktop, `/app/projects/${id}?tab=webhooks`);
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
  await page.goto(`${dashboard.url}/app/projects/${id}?tab=webhooks`);
  await page.getByRole("button", { name: "Deliveries" }).click();
  await page.getByText("Delivered").waitFor();
  await page.getByRole("button", { name: "Send again" }).click();
  await receiver.message(2);
  await expectAccessible(page);
});
