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

interface Shot {
  name: string;
  path: string;
  /** As much of it as a window shows: what is further down is made when it comes near. */
  isLong?: boolean;
  /** What to do before it is taken. */
  act?(page: Page): Promise<void>;
}

function shotsOf({ projectId, jobPaths }: Seeded): readonly Shot[] {
  const project = `/app/projects/${projectId}`;
  const click = (name: string) => (page: Page) => page.getByRole("button", { name, exact: true }).click();
  return [
    { name: "jobs", path: "/app", isLong: true },
    ...jobPaths.map((path, index) => ({ name: `job-${index + 1}`, path, isLong: true })),
    { name: "job-split", path: jobPaths[0] ?? "", isLong: true, act: click("Side by side") },
    { name: "pulls", path: "/app/pulls" },
    { name: "pull", path: `/app/pulls/${projectId}/1`, isLong: true },
    { name: "keys", path: "/app/keys" },
    { name: "keys-create", path: "/app/keys", act: click("Create key") },
    { name: "keys-created", path: "/app/keys", act: createKey },
    { name: "keys-rotate", path: "/app/keys", act: (page) => page.getByText("Rotate").first().click() },
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
    { name: "project-webhooks", path: `${project}?tab=webhooks`, act: click("Deliveries") },
    { name: "webhook-add", path: `${project}?tab=webhooks`, act: click("Add webhook") },
    { name: "health", path: `/app/health?project=${projectId}` },
    { name: "usage", path: "/app/usage" },
    { name: "settings", path: "/app/settings" },
    { name: "settings-members", path: "/app/settings?tab=members" },
    { name: "settings-audit", path: "/app/settings?tab=audit" },
    { name: "start", path: "/app/start" },
    { name: "missing", path: "/app/nowhere" },
    { name: "palette", path: "/app", act: openPalette },
    { name: "help", path: "/app", act: (page) => page.keyboard.press("?") },
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

async function shoot(browser: Browser, look: (typeof looks)[number], shots: readonly Shot[]): Promise<void> {
  const page = await logIn(browser, installation, look);
  for (const { name, path, act, isLong = false } of shots) {
    await page.goto(`${installation.server.url}${path}`);
    await page.waitForLoadState("networkidle");
    await act?.(page);
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(folder, `${name}-${look.name}.png`), fullPage: !isLong });
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

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Go to a page").fill("fix");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
}

async function logIn(browser: Browser, { server }: Installation, look: object): Promise<Page> {
  const page = await (await browser.newContext({ ...look, reducedMotion: "reduce" })).newPage();
  await page.goto(await server.admin.createLoginLink("/app"));
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}
