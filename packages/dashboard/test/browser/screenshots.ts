// Every page, light and dark, wide and narrow, into packages/dashboard/screenshots: `npm run screenshots`.
// With words, only those whose names hold one of them: `npm run screenshots -- keys health`.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { ensureBuild } from "../../build/ensure-build.ts";
import { launchChromium } from "./support/launch-chromium.ts";
import { narrow, wide } from "./support/looks.ts";
import { type Seeded, seed } from "./support/seed.ts";
import { type Installation, startInstallation } from "./support/start-installation.ts";

const folder = fileURLToPath(new URL("../../screenshots/", import.meta.url));
const wanted = process.argv.slice(2);
const looks = [
  { name: "light", colorScheme: "light", viewport: wide },
  { name: "dark", colorScheme: "dark", viewport: wide },
  { name: "phone", colorScheme: "light", viewport: narrow },
  { name: "phone-dark", colorScheme: "dark", viewport: narrow },
] as const;

const emptyPages = {
  start: "/start",
  projects: "/projects",
  keys: "/keys",
  pulls: "/pulls",
  health: "/health",
  usage: "/usage",
};

interface Shot {
  name: string;
  path: string;
  /** As much of it as a window shows: what is further down is made when it comes near. */
  isLong?: boolean;
  /** Not offered where the window is narrow. */
  isWide?: boolean;
  /** What to do before it is taken. */
  act?(page: Page): Promise<void>;
}

function shotsOf({ projectId, otherId, jobPaths }: Seeded): readonly Shot[] {
  const project = `/app/projects/${projectId}`;
  const click = (name: string) => (page: Page) => page.getByRole("button", { name, exact: true }).click();
  return [
    { name: "jobs", path: "/app", isLong: true },
    ...jobPaths.map((path, index) => ({ name: `job-${index + 1}`, path, isLong: true })),
    { name: "job-split", path: jobPaths[0] ?? "", isLong: true, isWide: true, act: click("Side by side") },
    { name: "jobs-none", path: "/app?search=nothing-like-this" },
    { name: "jobs-refused", path: "/app", isLong: true, act: startRefused },
    { name: "jobs-ended", path: "/app", isLong: true, act: endSession },
    { name: "jobs-loading", path: "/app", act: loadSlowly },
    { name: "pulls", path: "/app/pulls" },
    { name: "pulls-none", path: `/app/pulls?project=${otherId}` },
    { name: "pull", path: `/app/pulls/${projectId}/1`, isLong: true },
    { name: "keys", path: "/app/keys" },
    { name: "keys-create", path: "/app/keys", act: click("Create key") },
    { name: "keys-created", path: "/app/keys", act: createKey },
    { name: "keys-rotate", path: "/app/keys", act: (page) => page.getByText("Rotate").first().click() },
    { name: "keys-revoke", path: "/app/keys", act: (page) => page.getByText("Revoke").first().click() },
    { name: "projects", path: "/app/projects" },
    { name: "project-new", path: "/app/projects/new" },
    {
      name: "project-new-github",
      path: "/app/projects/new",
      async act(page) {
        await page.getByLabel("Where its repository is").selectOption("github");
      },
    },
    { name: "project", path: project },
    { name: "project-policy", path: `${project}?tab=policy` },
    { name: "project-guidance", path: `${project}?tab=guidance` },
    { name: "project-connection", path: `${project}?tab=connection`, act: testConnection },
    { name: "project-automations", path: `${project}?tab=automations`, act: click("Last runs") },
    { name: "automation-add", path: `${project}?tab=automations`, act: writeAutomation },
    { name: "project-remove", path: project, act: click("Remove project") },
    { name: "project-empty-automations", path: `/app/projects/${otherId}?tab=automations` },
    { name: "project-long", path: `/app/projects/${otherId}` },
    { name: "project-webhooks", path: `${project}?tab=webhooks`, act: click("Deliveries") },
    { name: "webhook-add", path: `${project}?tab=webhooks`, act: click("Add webhook") },
    { name: "health", path: `/app/health?project=${projectId}` },
    { name: "health-empty", path: `/app/health?project=${otherId}` },
    { name: "usage", path: "/app/usage" },
    { name: "settings", path: "/app/settings" },
    { name: "settings-members", path: "/app/settings?tab=members" },
    { name: "settings-installation", path: "/app/settings?tab=installation" },
    { name: "invite", path: "/app/settings?tab=members", act: click("Invite somebody") },
    { name: "settings-audit", path: "/app/settings?tab=audit" },
    { name: "start", path: "/app/start" },
    { name: "missing", path: "/app/nowhere" },
    { name: "palette", path: "/app", isLong: true, act: openPalette },
    { name: "help", path: "/app", isLong: true, act: (page) => page.keyboard.press("?") },
  ];
}

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await ensureBuild();
const installation = await startInstallation();
try {
  const chromiumServer = await launchChromium();
  try {
    const browser = await chromium.connect(chromiumServer.wsEndpoint());
    const page = await logIn(browser, installation, {});
    await page.screenshot({ path: join(folder, "jobs-no-project.png") });
    await shootFirstRun(browser);
    const seeded = await seed(installation, page);
    await page.context().close();
    const shots = shotsOf(seeded).filter(
      ({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)),
    );
    for (const look of looks) await shoot(browser, look, shots);
  } finally {
    await chromiumServer.close();
  }
} finally {
  await installation.stop();
}

/** What whoever comes first sees, before there is an owner, a project, a key or a job. */
async function shootFirstRun(browser: Browser): Promise<void> {
  for (const look of looks) {
    const take = (name: string, page: Page) =>
      page.screenshot({ path: join(folder, `${name}-${look.name}.png`), fullPage: true });
    const stranger = await (await browser.newContext({ ...look, reducedMotion: "reduce" })).newPage();
    await stranger.goto(`${installation.server.url}/app`);
    await stranger.getByText("has no owner yet").waitFor();
    await take("login-first", stranger);
    await stranger.goto((await installation.server.admin.ownerLink({ isNew: false })) ?? "");
    await stranger.getByRole("button", { name: "Become the owner" }).waitFor();
    await take("welcome", stranger);
    await stranger.context().close();
    const page = await logIn(browser, installation, look);
    for (const [name, path] of Object.entries(emptyPages)) {
      await page.goto(`${installation.server.url}/app${path}`);
      await page.waitForLoadState("networkidle");
      await take(`empty-${name}`, page);
    }
    await page.context().close();
  }
}

async function shoot(browser: Browser, look: (typeof looks)[number], shots: readonly Shot[]): Promise<void> {
  const page = await logIn(browser, installation, look);
  for (const { name, path, act, isLong = false, isWide = false } of shots) {
    if (isWide && look.viewport === narrow) continue;
    const file = `${name}-${look.name}.png`;
    try {
      await page.unrouteAll();
      await page.goto(`${installation.server.url}${path}`);
      await page.waitForLoadState("networkidle");
      await act?.(page);
      // Something may be kept waiting on purpose.
      await page.waitForLoadState("networkidle", { timeout: 3_000 }).catch(() => {});
      await page.screenshot({ path: join(folder, file), fullPage: !isLong });
    } catch (error) {
      console.error(`${file} could not be taken: ${error}`);
      process.exitCode = 1;
    }
  }
  await page.context().clearCookies();
  await page.reload();
  await page.getByRole("heading", { name: /log in/i }).waitFor();
  await page.screenshot({ path: join(folder, `login-${look.name}.png`) });
  await page.context().close();
}

async function createKey(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create key", exact: true }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Release script");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("Your new key").waitFor();
}

async function testConnection(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("can be listed by branch").waitFor();
}

async function writeAutomation(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Add automation" }).click();
  await page.getByLabel("When").selectOption("cron");
}

async function startRefused(page: Page): Promise<void> {
  await page.route("**/jobs", (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "600" },
      json: { error: "The project's quota is used up." },
    }),
  );
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("alert").waitFor();
  await page.evaluate("localStorage.clear()");
}

async function endSession(page: Page): Promise<void> {
  await page.route("**/jobs", (route) => route.fulfill({ status: 401, json: { error: "Log in to go on." } }));
  await page.getByLabel("What should change in the docs?").fill("Fix broken links.");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("button", { name: "Log in again" }).click();
  await page.evaluate("localStorage.clear()");
}

async function loadSlowly(page: Page): Promise<void> {
  await page.route("**/api/projects", () => {});
  await page.reload();
  await page.getByText("Loading").waitFor();
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Go to a page").fill("fix");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
}

async function logIn(browser: Browser, { server }: Installation, look: object): Promise<Page> {
  const page = await (await browser.newContext({ ...look, reducedMotion: "reduce" })).newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(await server.admin.createLoginLink("/app"));
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}
