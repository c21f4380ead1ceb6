import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { openDashboard } from "./support/dashboard.ts";
import { expectAccessible, expectFitting } from "./support/judge.ts";
import { desktop, narrow, wide } from "./support/looks.ts";

const dashboard = openDashboard();
let projectId: string;

beforeAll(async () => {
  projectId = (await dashboard.addSample("Courier docs")).id;
  await dashboard.server.admin.createKey({ projectIds: [projectId], name: "CI", scope: "write" });
});

/** Every page, and something on it that says that it is there. A new page gets a line. */
const pages: readonly { path: string; seen: (page: Page) => Locator }[] = [
  { path: "/app", seen: (page) => page.getByText("No job yet") },
  { path: "/app/projects", seen: (page) => page.getByText("Courier docs") },
  { path: "/app/projects/PROJECT", seen: (page) => page.getByRole("button", { name: "Save" }) },
  { path: "/app/projects/PROJECT?tab=policy", seen: (page) => page.getByText("What a job may change") },
  { path: "/app/projects/PROJECT?tab=guidance", seen: (page) => page.getByText("Context repositories") },
  { path: "/app/projects/PROJECT?tab=connection", seen: (page) => page.getByText("Keys for models") },
  { path: "/app/projects/PROJECT?tab=webhooks", seen: (page) => page.getByText("Be told when") },
  { path: "/app/projects/new", seen: (page) => page.getByRole("button", { name: "Add project" }) },
  { path: "/app/health", seen: (page) => page.getByText("Nobody has looked") },
  { path: "/app/usage", seen: (page) => page.getByText("No job was created") },
  { path: "/app/keys", seen: (page) => page.getByText("CI", { exact: true }) },
];

it.each(pages)("has no serious fault in either theme at either width: $path", async ({ path, seen }) => {
  const page = await dashboard.logIn(desktop, path.replace("PROJECT", projectId));
  await seen(page).waitFor();
  for (const viewport of [wide, narrow]) {
    await page.setViewportSize(viewport);
    await expectFitting(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
    }
  }
});

it("asks whoever is not logged in to do so", async () => {
  dashboard.expectComplaint(/401/);
  const page = await dashboard.visit();
  await page.goto(`${dashboard.url}/app/keys`);
  await page.getByRole("heading", { name: /log in/i }).waitFor();
  await expectAccessible(page);
  expect(await page.getByText("emend_").count()).toBe(0);
});
