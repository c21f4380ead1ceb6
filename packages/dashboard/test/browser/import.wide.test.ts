// Costly: files are chosen in a browser's own dialog.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { expectGood } from "./support/judge.ts";
import { choose, press, type } from "./support/keyboard.ts";

const dashboard = openDashboard({ EMEND_ALLOW_PRIVATE_FORGES: "true" });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "emend-docs-"));
  await mkdir(join(folder, "guides"));
  await writeFile(join(folder, "README.md"), "# Docs\n\nUse your API token. [Start](guides/start.md)\n");
  await writeFile(join(folder, "guides/start.md"), "# Start\n");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

journey("fills a hosted repository with a folder, a template or a public repository", async (look) => {
  const page = await dashboard.logIn(look, "/app/projects/new");
  await type(page.getByLabel("Name", { exact: true }), `${look.name} handbook`);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Add your docs" }).waitFor();
  // Before there are docs, there is nothing else to set.
  expect(await page.getByLabel("Jobs per hour").count()).toBe(0);
  await expectGood(page);
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    press(page.getByRole("button", { name: "Choose a folder" })),
  ]);
  await chooser.setFiles(folder);
  await page.getByText("Your docs are here").waitFor();
  await expectGood(page);
  await press(page.getByRole("link", { name: "Write a job" }));
  await type(page.getByLabel("What should change in the docs?"), 'Replace "API token" with "access key".');
  await page.getByText("I read this as").waitFor();
  await press(page.getByRole("button", { name: "Start job" }));
  await page.getByText(/^Opened #1 · 1 file/).waitFor();
  const source = (await dashboard.server.admin.listProjects()).find(({ name }) => name === `${look.name} handbook`);

  const other = await dashboard.server.admin.addProject({ name: "Other", forge: "local" });
  await page.goto(`${dashboard.url}/app/projects/${other.id}`);
  await choose(page.getByLabel("Or start from a template"), "Vite");
  await press(page.getByRole("button", { name: "Start from this template" }));
  await page.getByText("Your docs are here").waitFor();
  // Once it has commits, the form is gone.
  await page.reload();
  await page.getByLabel("Jobs per hour").waitFor();

  const third = await dashboard.server.admin.addProject({ name: "Third", forge: "local" });
  await page.goto(`${dashboard.url}/app/projects/${third.id}`);
  dashboard.expectComplaint(/400/);
  await type(page.getByLabel("Or import a public git repository"), `${dashboard.url}/git/${source?.id}.git`);
  await press(page.getByRole("button", { name: "Import", exact: true }));
  // A hosted repository is not public.
  await page.getByRole("alert").filter({ hasText: "Only public repositories" }).waitFor();
  await expectGood(page);
});
