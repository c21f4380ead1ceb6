// Costly: a page is judged as it is drawn, in both themes and widths.
import { clientId, clientSecret, startIdentityProvider } from "@emend/testkit/identity-provider.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectGood, expectOutline, expectSteady } from "./support/judge.ts";
import { press } from "./support/keyboard.ts";
import { bothLooks, desktop, take } from "./support/looks.ts";
import { forgetShifts, watchShifts } from "./support/web-vitals.ts";

const provider = await startIdentityProvider();
const dashboard = openDashboard({
  EMEND_OIDC_ISSUER: provider.issuer,
  EMEND_OIDC_CLIENT_ID: clientId,
  EMEND_OIDC_CLIENT_SECRET: clientSecret,
  EMEND_OIDC_NAME: "Acme",
  EMEND_OIDC_DOMAINS: "example.com",
});
afterAll(() => provider.close());
let projectId: string;
let jobId: string;
/** One visitor for all pages: other tests cover logging in and loading the app with an empty cache. */
let page: Page;

const hostile = `<img src=x onerror="document.title='owned'"> \u202Etfel ${"wide".repeat(30)}`;

beforeAll(async () => {
  const { admin } = dashboard.server;
  projectId = (await dashboard.addSample("Courier docs")).id;
  const { id: otherId } = await admin.addProject({ name: hostile, forge: "local" });
  const { key } = await admin.createKey({ projectIds: [projectId, otherId], name: "CI", scope: "write" });
  await admin.createKey({ projectIds: [otherId], name: hostile, scope: "read" });
  const client = clientOf(dashboard.server, projectId, key);
  jobId = (await client.create({ prompt: "Fix broken links." })).id;
  await client.untilFinal(jobId);
  // Single sign-on accepts nobody before there is an owner.
  await dashboard.installation.database.pool.query(
    "insert into users (id, email, name, role) values ('1', 'ada@example.com', 'Ada', 'owner')",
  );
  await dashboard.installation.database.pool.query(
    `insert into tasks (kind, subject, due_at, waits, waiting_since, problem)
     values ('set_details', 'job_1', now() + interval '1 day', 1, now(), $1), ('send_email', 'eml_1', 'infinity', 0, now(), $1)`,
    [hostile],
  );
  page = await dashboard.logIn();
  await watchShifts(page);
  dashboard.keep(page);
});

/** Every page, and text that shows that it has loaded. Add a line for a new page. */
const pages: readonly { path: string; seen: (page: Page) => Locator }[] = [
  { path: "/app", seen: (page) => page.getByRole("link", { name: /Fix/ }) },
  { path: "/app/jobs", seen: (page) => page.getByRole("link", { name: /Fix/ }) },
  { path: "/app/jobs/JOB", seen: (page) => page.getByRole("link", { name: /^Pull request #/ }) },
  { path: "/app/pulls", seen: (page) => page.getByText("#1") },
  { path: "/app/pulls/PROJECT/1", seen: (page) => page.getByRole("button", { name: "Merge" }) },
  { path: "/app/inbox", seen: (page) => page.getByRole("heading", { name: "Inbox" }) },
  { path: "/app/search?text=links", seen: (page) => page.getByRole("link", { name: /Fix/ }).first() },
  { path: "/app/projects", seen: (page) => page.getByText("Courier docs") },
  { path: "/app/projects/PROJECT", seen: (page) => page.getByRole("button", { name: "Save" }) },
  { path: "/app/projects/PROJECT?tab=policy", seen: (page) => page.getByText("What a job may change") },
  { path: "/app/projects/PROJECT?tab=guidance", seen: (page) => page.getByText("Code that the docs describe") },
  { path: "/app/projects/PROJECT?tab=automations", seen: (page) => page.getByText("on a schedule, after a push") },
  { path: "/app/projects/PROJECT?tab=connection", seen: (page) => page.getByText("Emend hosts this repository") },
  { path: "/app/projects/PROJECT?tab=webhooks", seen: (page) => page.getByText("when a job ends") },
  { path: "/app/projects/new", seen: (page) => page.getByRole("button", { name: "Add project" }) },
  { path: "/app/health", seen: (page) => page.getByRole("heading", { name: "Site health" }) },
  {
    path: "/app/health/page?project=PROJECT&path=quickstart.mdx",
    seen: (page) => page.getByRole("heading", { name: "Add a claim" }),
  },
  { path: "/app/usage", seen: (page) => page.getByRole("figure", { name: "Jobs per day" }) },
  { path: "/app/keys", seen: (page) => page.getByText("CI", { exact: true }) },
  { path: "/app/connect", seen: (page) => page.getByText("No program asks for access now") },
  { path: "/app/docs/index", seen: (page) => page.getByRole("link", { name: "Integrate" }) },
  { path: "/app/batch?ids=JOB", seen: (page) => page.getByText("1 of 1 done") },
  { path: "/app/start", seen: (page) => page.getByRole("heading", { level: 1 }) },
  { path: "/app/settings", seen: (page) => page.getByRole("heading", { name: "Settings" }) },
  { path: "/app/settings?tab=members", seen: (page) => page.getByRole("heading", { name: "Settings" }) },
  { path: "/app/settings?tab=directory", seen: (page) => page.getByRole("button", { name: "Save roles" }) },
  { path: "/app/settings?tab=installation", seen: (page) => page.getByRole("heading", { name: "Settings" }) },
  { path: "/app/settings?tab=status", seen: (page) => page.getByRole("button", { name: "Run again: Email eml_1" }) },
  { path: "/app/settings?tab=audit", seen: (page) => page.getByRole("button", { name: "console" }) },
  { path: "/app/nowhere", seen: (page) => page.getByText("Page not found") },
];

/** Each is opened in one look, and looked at in both. `npm run screenshots` opens all in all. */
const opened = pages.map((each, at) => ({ ...each, look: bothLooks[at % 2] ?? desktop }));

it.each(opened)(
  "has no serious fault, light and wide or dark and narrow: $path",
  async ({ path, seen, look: first }) => {
    await take(page, first);
    await forgetShifts(page);
    await go(page, path.replace("PROJECT", projectId).replace("JOB", jobId));
    await seen(page).first().waitFor();
    await expectSteady(page);
    await expectOutline(page);
    expect(await page.title()).not.toBe("owned");
    // At most one navigation link and one tab are marked as current.
    for (const nav of await page.getByRole("navigation").all()) {
      expect(await nav.locator("[aria-current]").count()).toBeLessThan(2);
    }
    for (const look of bothLooks) {
      await take(page, look);
      await expectGood(page);
    }
  },
);

journey("asks whoever is not logged in to do so; single sign-on leads on to the page", async (look) => {
  dashboard.expectComplaint(/401/);
  dashboard.expectComplaint(new RegExp(provider.issuer));
  const stranger = await dashboard.visit(look);
  await stranger.goto(`${dashboard.url}/app/keys`);
  await stranger.getByRole("heading", { name: /log in/i }).waitFor();
  await expectGood(stranger);
  expect(await stranger.getByText("emend_").count()).toBe(0);
  await press(stranger.getByRole("button", { name: "Skip to content" }));
  expect(await stranger.evaluate("document.activeElement.tagName")).toBe("MAIN");

  const email = `${look.name}@example.com`;
  provider.script = { subject: look.name, claims: { email, email_verified: true, name: "Bo" } };
  await press(stranger.getByRole("link", { name: "Continue with Acme" }));
  await stranger.getByRole("heading", { name: "API keys" }).waitFor();
  await stranger.getByRole("link", { name: `Settings, ${email}` }).waitFor();
});

it.each(bothLooks)("the API's reference can be read by everybody: $name", async (look) => {
  const visitor = await dashboard.visit(look);
  await visitor.goto(`${dashboard.url}/reference/`);
  await visitor.getByRole("heading", { name: "Create agent job" }).waitFor();
  await expectGood(visitor);
});
