import type { Locator, Page, Route } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { clientOf } from "../../../server/test/support/whole-server.ts";
import { openDashboard } from "./support/dashboard.ts";
import { desktop } from "./support/looks.ts";
import { addJob } from "./support/tell-job.ts";

const dashboard = openDashboard();
let projectId: string;
let jobId: string;
let activeId: string;

beforeAll(async () => {
  const { admin } = dashboard.server;
  projectId = (await dashboard.addSample("Courier docs")).id;
  const { key } = await admin.createKey({ projectIds: [projectId], name: "CI", scope: "write" });
  const client = clientOf(dashboard.server, projectId, key);
  jobId = (await client.create({ prompt: "Fix broken links." })).id;
  await client.untilFinal(jobId);
  const { pool } = dashboard.installation.database;
  activeId = await addJob(pool, projectId, "Wait.");
  await pool.query("insert into users (id, email, name, role) values ('1', 'bo@example.com', 'Bo', 'viewer')");
  await admin.addWebhook({ projectId, url: "https://hooks.example.com/x", events: ["job.completed"] });
  const prompt = "Fix broken links.";
  await admin.automations.add({ projectId, name: "Links", prompt, trigger: { kind: "manual" }, createdBy: "test" });
});

/** Every way in which a write can fail, and what must be said of it. The last one takes the page's session. */
const failures: readonly { answer(route: Route): Promise<void>; words: string }[] = [
  { answer: (route) => route.abort(), words: "cannot be reached" },
  { answer: (route) => route.fulfill({ status: 500 }), words: "cannot do this just now (500)" },
  {
    answer: (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "600" }, json: { error: "Too many of them." } }),
    words: "Too many of them. Try again in 10 minutes.",
  },
  { answer: (route) => route.fulfill({ status: 403, json: { error: "This takes the role owner." } }), words: "takes" },
  { answer: (route) => route.fulfill({ status: 401, json: { error: "Log in to go on." } }), words: "Log in to go on." },
];

interface Write {
  path: string;
  /** What leads to the form. */
  open?(page: Page): Promise<void>;
  /** What is typed, and must stay. */
  typed?: Readonly<Record<string, string>>;
  submit(page: Page): Locator;
}

const button =
  (name: string) =>
  (page: Page): Locator =>
    page.getByRole("button", { name, exact: true }).last();
const click = (name: string) => async (page: Page) => page.getByRole("button", { name, exact: true }).first().click();
const project = "/app/projects/PROJECT";

/** Every page that writes. A new one gets a line. */
const writes: Readonly<Record<string, Write>> = {
  "a new job": {
    path: "/app?project=PROJECT",
    typed: { "What should change in the docs?": "Fix it." },
    submit: button("Start job"),
  },
  "a follow-up": { path: "/app/jobs/JOB", typed: { "Ask for more": "And that." }, submit: button("Send") },
  "running again": { path: "/app/jobs/JOB", submit: button("Run again") },
  archiving: { path: "/app/jobs/JOB", submit: button("Archive") },
  cancelling: { path: "/app/jobs/ACTIVE", submit: button("Cancel") },
  "a comment": { path: "/app/pulls/PROJECT/1", typed: { Comment: "Good." }, submit: button("Comment") },
  merging: { path: "/app/pulls/PROJECT/1", submit: button("Merge") },
  closing: { path: "/app/pulls/PROJECT/1", submit: button("Close") },
  "a new project": {
    path: "/app/projects/new",
    typed: { Name: "More docs", "Base branch": "next" },
    submit: button("Add project"),
  },
  settings: { path: project, typed: { "Steps a job": "7" }, submit: button("Save") },
  policy: { path: `${project}?tab=policy`, typed: { "Branches begin with": "docs" }, submit: button("Save") },
  "a context repository": {
    path: `${project}?tab=guidance`,
    open: click("Add repository"),
    typed: { Name: "api", Address: "https://github.com/a/b" },
    submit: button("Add repository"),
  },
  "a connection test": { path: `${project}?tab=connection`, submit: button("Test connection") },
  "a model's key": { path: `${project}?tab=connection`, typed: { Key: "sk-1" }, submit: button("Set key") },
  "a webhook": {
    path: `${project}?tab=webhooks`,
    open: click("Add webhook"),
    typed: { Address: "https://example.com/x" },
    submit: button("Add webhook"),
  },
  "disabling a webhook": { path: `${project}?tab=webhooks`, submit: button("Disable") },
  "removing a webhook": { path: `${project}?tab=webhooks`, open: click("Remove"), submit: button("Remove webhook") },
  "an automation": {
    path: `${project}?tab=automations`,
    open: click("Add automation"),
    typed: { Name: "Weekly", "What it asks for": "Fix it." },
    submit: button("Add automation"),
  },
  "an automation's edit": {
    path: `${project}?tab=automations`,
    open: click("Edit"),
    typed: { "What it asks for": "Fix that." },
    submit: button("Save automation"),
  },
  "an automation's run": { path: `${project}?tab=automations`, submit: button("Run now") },
  "removing a project": {
    path: project,
    open: click("Remove project"),
    typed: { "Name of the project": "Courier docs" },
    submit: button("Remove project"),
  },
  "a look at the site": { path: "/app/health?project=PROJECT", submit: button("Check now") },
  "a new key": { path: "/app/keys", open: click("Create key"), typed: { Name: "CI" }, submit: button("Create key") },
  "a rotation": { path: "/app/keys", open: click("Rotate"), typed: { Name: "CI 2" }, submit: button("Rotate key") },
  "a revocation": { path: "/app/keys", open: click("Revoke"), submit: button("Revoke key") },
  "an invitation": {
    path: "/app/settings?tab=members",
    open: click("Invite somebody"),
    typed: { "E-mail address": "cy@example.com" },
    submit: button("Make the link"),
  },
  "removing a member": {
    path: "/app/settings?tab=members",
    open: async (page) => page.getByRole("button", { name: "Remove bo@example.com" }).click(),
    submit: button("Remove"),
  },
  retention: { path: "/app/settings?tab=installation", submit: button("Save") },
};

it("tells every refusal of every write in words, and keeps what was typed", async () => {
  dashboard.expectComplaint(/ERR_FAILED|40[13]|429|500/);
  const page = await dashboard.logIn(desktop);
  let fail: ((route: Route) => Promise<void>) | null = null;
  await page.route("**/dashboard/api/**", (route) => {
    // How a prompt would be read is no write.
    const isWrite = route.request().method() !== "GET" && !route.request().url().endsWith("/reading");
    return fail && isWrite ? fail(route) : route.continue();
  });
  const untold: string[] = [];
  for (const [name, { path, open, typed = {}, submit }] of Object.entries(writes)) {
    fail = null;
    await page.goto(
      dashboard.url + path.replace("PROJECT", projectId).replace("JOB", jobId).replace("ACTIVE", activeId),
    );
    try {
      await open?.(page);
      const field = (label: string) => page.getByLabel(label, { exact: !label.startsWith("Ask") }).last();
      for (const [label, text] of Object.entries(typed)) await field(label).fill(text);
      for (const { answer, words } of failures) {
        fail = answer;
        await submit(page).click();
        await page.getByRole("alert").filter({ hasText: words }).first().waitFor({ timeout: 5_000 });
        for (const [label, text] of Object.entries(typed)) expect(await field(label).inputValue(), label).toBe(text);
      }
      await page.getByText("Your session has ended").waitFor({ timeout: 5_000 });
    } catch (error) {
      untold.push(`${name}: ${error}`);
    }
  }
  expect(untold).toEqual([]);
});
