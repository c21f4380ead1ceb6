// Costly: what a person sees of a refusal is drawn.
import { clientOf } from "@emend/testkit/whole-server.ts";
import type { Page, Route } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { desktop } from "./support/looks.ts";
import { addJob } from "./support/tell-job.ts";

const dashboard = openDashboard();
let projectId: string;
let jobId: string;
let activeId: string;
let ownerToken: string;

beforeAll(async () => {
  const { admin } = dashboard.server;
  ownerToken = (await admin.ownerLink({ isNew: false }))?.split("/").at(-1) ?? "";
  projectId = (await dashboard.addSample("Courier docs")).id;
  const { key } = await admin.createKey({ projectIds: [projectId], name: "CI", scope: "write" });
  const client = clientOf(dashboard.server, projectId, key);
  jobId = (await client.create({ prompt: "Fix broken links." })).id;
  await client.untilFinal(jobId);
  const { pool } = dashboard.installation.database;
  activeId = await addJob(pool, projectId, "Wait.");
  await pool.query("insert into users (id, email, name, role) values ('1', 'bo@example.com', 'Bo', 'viewer')");
  await admin.carryOut("webhooks.add", { projectId, url: "https://hooks.example.com/x", events: ["job.completed"] });
  const prompt = "Fix broken links.";
  await admin.automations.add({ projectId, name: "Links", prompt, trigger: { kind: "manual" }, createdBy: "test" });
});

interface Failure {
  answer(route: Route): Promise<void>;
  words: string;
}

const unreachable: Failure = { answer: (route) => route.abort(), words: "Can't reach" };
/** The other ways in which a write can fail, and the message for each. */
const failures: readonly Failure[] = [
  { answer: (route) => route.fulfill({ status: 500 }), words: "is unavailable (500)" },
  {
    answer: (route) =>
      route.fulfill({ status: 429, headers: { "retry-after": "600" }, json: { error: "Too many of them." } }),
    words: "Too many of them. Try again in 10 minutes.",
  },
  { answer: (route) => route.fulfill({ status: 403, json: { error: "This takes the role owner." } }), words: "takes" },
];
const ended: Failure = {
  answer: (route) => route.fulfill({ status: 401, json: { error: "Log in to go on." } }),
  words: "Log in to go on.",
};

interface Write {
  path: string;
  /** Without a session. */
  isStranger?: boolean;
  /** Overrides for server responses, by the end of their URL. */
  given?: Readonly<Record<string, object>>;
  /** Opens the form. */
  open?(page: Page): Promise<void>;
  /** The typed text, which must stay. */
  typed?: Readonly<Record<string, string>>;
  submit(page: Page): Promise<unknown>;
}

const button = (name: string) => (page: Page) => page.getByRole("button", { name, exact: true }).last().press("Enter");
const click = (name: string) => async (page: Page) => page.getByRole("button", { name, exact: true }).first().click();
const project = "/app/projects/PROJECT";

const person = {
  subject: "ada@example.com",
  name: "Ada",
  role: "owner",
  hasPassword: true,
  emailsJobs: null,
  publicUrl: "https://x.test",
};
const delivery = {
  id: "msg_1",
  jobId: "job_1",
  event: "job.completed",
  state: "failed",
  tries: 1,
  lastStatus: 500,
  lastError: null,
  lastTryAt: null,
  createdAt: "2026-01-01T00:00:00.000Z",
};
const givenUp = { kind: "send_email", subject: "eml_1", problem: "No.", since: delivery.createdAt, nextTryAt: null };
const status = {
  version: "1",
  nodes: [],
  queue: { waiting: 0, running: 0, oldestSeconds: 0 },
  deliveriesDue: 0,
  models: [],
  forges: [],
  database: { bytes: 1, version: "18" },
  lastBackupAt: null,
};
const session = {
  startedAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2036-01-01T00:00:00.000Z",
  by: null,
  address: null,
};
const factors = { appSince: null, passkeys: [], allowsPasskeys: false, recoveryCodesLeft: 0, isFresh: true };
const nothingYet = { "/projects": { projects: [] }, "/keys": { keys: [] }, "/jobs": { jobs: [], nextCursor: null } };

/** Every page that writes. Add a line for a new one. */
const writes: Readonly<Record<string, Write>> = {
  "a new job": {
    path: "/app?project=PROJECT",
    typed: { "What should change in the docs?": "Fix broken links." },
    submit: button("Start job"),
  },
  "a follow-up": { path: "/app/jobs/JOB", typed: { "Ask for changes": "And that." }, submit: button("Send") },
  "running again": { path: "/app/jobs/JOB", submit: button("Run again") },
  archiving: { path: "/app/jobs/JOB", submit: button("Archive") },
  cancelling: { path: "/app/jobs/ACTIVE", open: click("Cancel"), submit: button("Cancel job") },
  "a comment": { path: "/app/pulls/PROJECT/1", typed: { Comment: "Good." }, submit: button("Comment") },
  merging: { path: "/app/pulls/PROJECT/1", open: click("Merge"), submit: button("Merge pull request") },
  closing: { path: "/app/pulls/PROJECT/1", open: click("Close"), submit: button("Close pull request") },
  "a new project": {
    path: "/app/projects/new",
    typed: { Name: "More docs" },
    submit: button("Add project"),
  },
  settings: { path: project, typed: { "Steps per job": "7" }, submit: button("Save") },
  policy: { path: `${project}?tab=policy`, typed: { "Branch prefix": "docs" }, submit: button("Save") },
  "a context repository": {
    path: `${project}?tab=guidance`,
    open: click("Add repository"),
    typed: { Name: "api", Address: "https://github.com/a/b" },
    submit: button("Add repository"),
  },
  "a connection test": { path: `${project}?tab=connection`, submit: button("Test connection") },
  "a model and its key": {
    path: project,
    open: async (page) => void (await page.getByLabel("Vendor").selectOption({ label: "Anthropic" })),
    typed: { "Anthropic API key": "sk-1" },
    submit: button("Save model"),
  },
  "what was given up": {
    path: "/app/settings?tab=status",
    given: { "/status": { ...status, outbox: [givenUp] } },
    submit: button("Run again: Email eml_1"),
  },
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
    typed: { Name: "Weekly", Prompt: "Fix it." },
    submit: button("Add automation"),
  },
  "an automation's edit": {
    path: `${project}?tab=automations`,
    open: click("Edit"),
    typed: { Prompt: "Fix that." },
    submit: button("Save automation"),
  },
  "an automation's run": { path: `${project}?tab=automations`, submit: button("Run now") },
  "removing a project": {
    path: project,
    open: click("Remove project"),
    typed: { "Project name": "Courier docs" },
    submit: button("Remove project"),
  },
  "a look at the site": { path: "/app/health?project=PROJECT", submit: button("Check now") },
  "a new key": { path: "/app/keys", open: click("Create key"), typed: { Name: "CI" }, submit: button("Create key") },
  "a rotation": { path: "/app/keys", open: click("Rotate"), typed: { Name: "CI 2" }, submit: button("Rotate key") },
  "a revocation": { path: "/app/keys", open: click("Revoke"), submit: button("Revoke key") },
  "an invitation": {
    path: "/app/settings?tab=members",
    open: click("Invite member"),
    typed: { "Email address": "cy@example.com" },
    submit: button("Create link"),
  },
  "removing a member": {
    path: "/app/settings?tab=members",
    open: async (page) => page.getByRole("button", { name: "Remove bo@example.com" }).click(),
    submit: button("Remove"),
  },
  "a role": {
    path: "/app/settings?tab=members",
    submit: (page) => page.getByLabel("Role of bo@example.com").selectOption("maintainer"),
  },
  "a login": {
    path: "/app",
    isStranger: true,
    given: { "/auth": { hasOwner: true, singleSignOn: null, problem: null } },
    typed: { "Email address": "ada@example.com", Password: "correct horse battery" },
    submit: button("Log in"),
  },
  "a welcome": {
    path: "/app/welcome#TOKEN",
    isStranger: true,
    typed: { "Email address": "ada@example.com", "Your name": "Ada", Password: "correct horse battery" },
    submit: button("Become the owner"),
  },
  "the start's sample": { path: "/app/start", given: nothingYet, submit: button("Use the sample docs") },
  "the start's key": { path: "/app/start", given: { "/keys": { keys: [] } }, submit: button("Create key") },
  "the start's job": {
    path: "/app/start",
    given: { "/jobs": nothingYet["/jobs"] },
    typed: { "What should change in the docs?": "Fix it." },
    submit: button("Run it"),
  },
  "a password": {
    path: "/app/settings",
    given: { "/session": person, "/factors": factors },
    typed: { "Current password": "correct horse battery", "New password": "correct horse stable" },
    submit: button("Change password"),
  },
  "logging out elsewhere": {
    path: "/app/settings",
    given: { "/sessions": { sessions: [{ ...session, isThis: false }] } },
    submit: button("End other sessions"),
  },
  "marking ready": {
    path: "/app/pulls/PROJECT/1",
    given: { "/pulls/PROJECT/1": { draft: true } },
    submit: button("Mark ready"),
  },
  "a token": {
    path: `${project}?tab=connection`,
    given: { "/projects": { forge: "github" } },
    typed: { "New token": "ghp_x" },
    submit: button("Replace token"),
  },
  "a webhook once more": {
    path: `${project}?tab=webhooks`,
    given: { "/operations/deliveries.list": { deliveries: [delivery] } },
    open: click("Deliveries"),
    submit: button("Redeliver"),
  },
  retention: { path: "/app/settings?tab=installation", submit: button("Save") },
};

/** Overrides the fields that a write depends on. In a list of projects, in each of them. */
async function giveInstead(route: Route, given: object): Promise<void> {
  const answer = await route.fetch();
  const { projects, ...rest } = await answer.json();
  const isOfProjects = Array.isArray(projects) && !("projects" in given);
  const json = isOfProjects
    ? { projects: projects.map((each: object) => ({ ...each, ...given })) }
    : { ...rest, ...given };
  await route.fulfill({ status: 200, json });
}

const named = (text: string) =>
  text.replace("PROJECT", projectId).replace("JOB", jobId).replace("ACTIVE", activeId).replace("TOKEN", ownerToken);

/** One visitor for all. These overrides define the server's responses. */
let page: Page;
let fail: Failure["answer"] | null = null;
let write: Write | null = null;

beforeAll(async () => {
  page = await dashboard.logIn(desktop);
  dashboard.keep(page);
  await page.route("**/dashboard/api/**", (route) => {
    const { pathname } = new URL(route.request().url());
    const isRead = route.request().method() === "GET" || /\/(reading|auth\/link|\w+\.list)$/.test(pathname);
    if (!isRead) return fail ? fail(route) : route.continue();
    if (write?.isStranger && pathname.endsWith("/session")) return ended.answer(route);
    const given = Object.entries(write?.given ?? {}).find(([end]) => pathname.endsWith(named(end)));
    return given ? giveInstead(route, given[1]) : route.continue();
  });
});

it.each(Object.entries(writes))("tells a refusal in words, and keeps what was typed: %s", async (name, each) => {
  dashboard.expectComplaint(/ERR_FAILED|40[13]|429|500/);
  const { path, isStranger = false, open, typed = {}, submit } = each;
  fail = null;
  write = each;
  await page.goto(dashboard.url + named(path));
  await open?.(page);
  const field = (label: string) => page.getByLabel(label, { exact: !label.startsWith("Ask") }).last();
  for (const [label, text] of Object.entries(typed)) await field(label).fill(text);
  // All writes show refusals with the same code. Each sees a lost connection, an ended session and, in turn, one of the others.
  const other = failures[Object.keys(writes).indexOf(name) % failures.length] ?? unreachable;
  for (const failure of [unreachable, other, ended]) {
    fail = failure.answer;
    await submit(page);
    await page.getByRole("alert").filter({ hasText: failure.words }).first().waitFor();
    for (const [label, text] of Object.entries(typed)) expect(await field(label).inputValue(), label).toBe(text);
  }
  if (isStranger) return;
  await page.getByText("Your session expired").waitFor();
  // The message is visible at every scroll position, and the typed text is still there afterwards.
  const again = page.getByRole("dialog", { name: "Log in again" });
  if (!(await again.isVisible())) await page.getByRole("button", { name: "Log in again" }).click();
  await again.getByLabel("Password").press("Escape");
  await again.waitFor({ state: "detached" });
  for (const [label, text] of Object.entries(typed)) expect(await field(label).inputValue(), label).toBe(text);
});
