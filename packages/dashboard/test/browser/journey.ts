// From a login link to a pull request, in a real browser, at both widths: `npm run test:browser`.
import assert from "node:assert/strict";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { openBrowser } from "./open-browser.ts";
import { type Installation, sampleDocs, startInstallation } from "./start-installation.ts";

const hostile = `<img src=x onerror="document.title='owned'"> "API token" \u202Etfel ${"wide".repeat(80)}`;
const prompt = 'Replace "API token" with "access key" and fix broken links.';

const installation = await startInstallation();
try {
  const browser = await openBrowser();
  try {
    await travel(browser, installation, { width: 1280, height: 900 });
    await travel(browser, installation, { width: 390, height: 844 });
  } finally {
    await browser.close();
  }
} finally {
  await installation.stop();
}
console.log("browser: passed");

async function travel(browser: Browser, { server }: Installation, viewport: { width: number; height: number }) {
  const name = `Sample at ${viewport.width}`;
  const project = await server.admin.addProject({ name, forge: "local", repo: sampleDocs });
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Logged out on purpose; and the local forge's pages name no icon, which browsers then ask for at the top.
    const isExpected = message.text().includes("401") || message.location().url.endsWith("/favicon.ico");
    if (message.type() === "error" && !isExpected) complaints.push(message.text());
  });

  await page.goto(`${server.url}/app`);
  await page.getByRole("heading", { name: "Log in to see this page" }).waitFor();
  await page.goto(await server.admin.createLoginLink("/app"));
  await page.getByLabel("What should change in the docs?").waitFor();

  const key = await createKey(page, project.id);
  await callByKey(server.url, project.id, key);
  await runJob(page, name);
  await showHostileJob(page, name, context);
  assert.deepEqual(complaints, []);
  await context.close();
}

async function createKey(page: Page, projectId: string): Promise<string> {
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText(projectId, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("release script");
  for (const box of await dialog.getByRole("checkbox").all()) await box.check();
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByRole("dialog", { name: "Your new key" }).locator("code").first().textContent()) ?? "";
  assert.match(key, /^emend_/);
  await page.getByRole("button", { name: "I have it" }).click();
  await page.getByText("release script").first().waitFor();
  assert.equal(await page.getByText(key).count(), 0);
  await fitsWidth(page);
  return key;
}

async function callByKey(url: string, projectId: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await fetch(`${url}/v2/agent/${projectId}/jobs`, { headers })).status, 200);
}

async function runJob(page: Page, project: string): Promise<void> {
  // By the keyboard alone: c goes to the composer from wherever one is.
  await page.keyboard.press("c");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: project });
  await page.getByLabel("What should change in the docs?").fill(prompt);
  await page.getByLabel("What should change in the docs?").press("Control+Enter");
  const link = page.getByRole("link", { name: /^Pull request #/ });
  await link.waitFor({ timeout: 60_000 });
  await page.getByText(/^Opened #\d+ · \d+ files/).waitFor();
  await page.locator("ins").first().waitFor();
  await fitsWidth(page);
  await page.reload();
  await link.click();
  await page.waitForURL(/\/forge\/prj_[^/]+\/pull\/\d+$/);
  await page.goBack();
}

/** Nothing executes, nothing widens the page, and what hides is shown. */
async function showHostileJob(page: Page, project: string, context: BrowserContext): Promise<void> {
  await page.keyboard.press("c");
  await page.getByLabel("Project", { exact: true }).selectOption({ label: project });
  await page.getByLabel("What should change in the docs?").fill(hostile);
  await page.getByRole("button", { name: "Start job" }).click();
  await page
    .getByRole("region", { name: "Failure" })
    .getByText("instruction_not_understood")
    .waitFor({ timeout: 60_000 });
  await page.getByText("U+202E").first().waitFor();
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  await fitsWidth(page);
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page
    .getByRole("link", { name: /onerror/ })
    .first()
    .waitFor();
  assert.notEqual(await page.title(), "owned");
  await fitsWidth(page);
  // What was typed outlives a session that has ended.
  await page.getByLabel("What should change in the docs?").fill("Unsent words");
  await context.clearCookies();
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("What should change in the docs?").inputValue(), "Unsent words");
}

async function fitsWidth(page: Page): Promise<void> {
  const excess = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.equal(excess, 0, `${page.url()} is wider than the window`);
}
