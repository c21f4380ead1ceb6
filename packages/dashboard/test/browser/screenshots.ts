// Every page, light and dark, wide and narrow, into packages/dashboard/screenshots: `npm run screenshots`.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { ensureBuild } from "../../build/ensure-build.ts";
import { launchChromium } from "./support/launch-chromium.ts";
import { sampleDocs } from "./support/sample-docs.ts";
import { type Installation, startInstallation } from "./support/start-installation.ts";

const folder = fileURLToPath(new URL("../../screenshots/", import.meta.url));
const prompts = [
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.',
  "Please make everything better <img src=x onerror=alert(1)>",
  "Fix broken links.",
];
const looks = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
] as const;

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await ensureBuild();
const installation = await startInstallation();
try {
  const chromiumServer = await launchChromium();
  try {
    const browser = await chromium.connect(chromiumServer.wsEndpoint());
    const seeded = await seed(browser, installation);
    for (const look of looks) await shoot(browser, installation, look, seeded);
  } finally {
    await chromiumServer.close();
  }
} finally {
  await installation.stop();
}

interface Seeded {
  projectId: string;
  paths: readonly string[];
}

/** Something of everything: two projects, one with a name too long, keys of several ages, jobs of several ends. */
async function seed(browser: Browser, { server }: Installation): Promise<Seeded> {
  const page = await logIn(browser, server, {});
  await page.screenshot({ path: join(folder, "jobs-no-project.png") });
  const { id: projectId } = await server.admin.addProject({ name: "Courier docs", forge: "local", repo: sampleDocs });
  await server.admin.addProject({ name: `The handbook of ${"a very long name, ".repeat(8)}`, forge: "local" });
  const soon = new Date(Date.now() + 5 * 24 * 60 * 60 * 1000);
  await server.admin.createKey({ projectIds: [projectId], name: "CI", scope: "write", expiresAt: soon });
  await server.admin.createKey({
    projectIds: [projectId],
    name: "Status page",
    scope: "read",
    allowList: ["10.0.0.0/8"],
  });
  await page.goto(`${server.url}/app`);
  await page.getByText("No job yet").waitFor();
  await page.screenshot({ path: join(folder, "jobs-empty.png") });
  const paths: string[] = [];
  for (const prompt of prompts) {
    await page.goto(`${server.url}/app`);
    await page.getByLabel("What should change in the docs?").fill(prompt);
    await page.getByRole("button", { name: "Start job" }).click();
    await page.getByRole("button", { name: "Run again" }).waitFor({ timeout: 60_000 });
    paths.push(new URL(page.url()).pathname);
  }
  await page.context().close();
  return { projectId, paths };
}

async function shoot(browser: Browser, { server }: Installation, look: (typeof looks)[number], seeded: Seeded) {
  const page = await logIn(browser, server, look);
  const shot = (name: string, fullPage = false) =>
    page.screenshot({ path: join(folder, `${name}-${look.name}.png`), fullPage });
  await page.locator("[data-row]").first().waitFor();
  await shot("jobs");
  for (const [index, path] of seeded.paths.entries()) {
    await page.goto(`${server.url}${path}`);
    await page.getByText(/events$/).waitFor();
    await page.waitForLoadState("networkidle");
    await shot(`job-${index + 1}`);
    const split = page.getByRole("button", { name: "Side by side" });
    if (index > 0 || look.name === "phone") continue;
    await split.click();
    await page.locator("summary", { hasText: "Timeline" }).click();
    await page.getByRole("region", { name: "Changes" }).scrollIntoViewIfNeeded();
    await shot("job-split");
  }
  await page.goto(`${server.url}/app/keys`);
  await page.getByText("Status page").waitFor();
  await shot("keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Release script");
  await shot("keys-create");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("Your new key").waitFor();
  await shot("keys-created");
  await page.goto(`${server.url}/app/projects`);
  await page.getByText("Courier docs").waitFor();
  await shot("projects");
  await page.getByText("Courier docs").click();
  await page.getByRole("button", { name: "Save" }).waitFor();
  await shot("project", true);
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Go to a page").fill("fix");
  await page.getByRole("option").first().waitFor();
  await shot("palette");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await shot("help");
  await page.context().clearCookies();
  await page.reload();
  await page.getByText("Log in to see this page").waitFor();
  await shot("sign-in");
  await page.context().close();
}

async function logIn(browser: Browser, server: Installation["server"], look: object): Promise<Page> {
  const page = await (await browser.newContext({ ...look, reducedMotion: "reduce" })).newPage();
  await page.goto(await server.admin.createLoginLink("/app"));
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}
