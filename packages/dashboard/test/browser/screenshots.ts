// Takes screenshots of every page, light and dark, wide and narrow, into packages/dashboard/screenshots: `npm run screenshots`.
// With arguments, only those whose names contain one of them: `npm run screenshots -- keys health-phone`. It fails if a page moves
// while it loads.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { ensureBuild } from "../../build/ensure-build.ts";
import { findChromium, launchChromium } from "./support/launch-chromium.ts";
import { narrow, wide } from "./support/looks.ts";
import { seed } from "./support/seed.ts";
import { type Shot, shotsOf } from "./support/shots.ts";
import { type Installation, startInstallation } from "./support/start-installation.ts";
import { largestPaintMs, shiftMax, takeShifts, watchShifts } from "./support/web-vitals.ts";

const folder = fileURLToPath(new URL("../../screenshots/", import.meta.url));
const wanted = process.argv.slice(2);
const looks = [
  { name: "light", colorScheme: "light", viewport: wide },
  { name: "dark", colorScheme: "dark", viewport: wide },
  { name: "phone", colorScheme: "light", viewport: narrow },
  { name: "phone-dark", colorScheme: "dark", viewport: narrow },
] as const;

const emptyPages = {
  jobs: "",
  start: "/start",
  projects: "/projects",
  keys: "/keys",
  pulls: "/pulls",
  inbox: "/inbox",
  health: "/health",
  usage: "/usage",
};

const paints: { file: string; ms: number }[] = [];
const shifts: { what: string; worst: number }[] = [];

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await ensureBuild();
const installation = await startInstallation();
try {
  const browser = await launchChromium(await findChromium());
  try {
    const page = await logIn(browser, installation, {});
    if (isWanted("login empty welcome")) await shootFirstRun(browser);
    const seeded = await seed(installation, page);
    await page.context().close();
    for (const look of looks) {
      const shots = shotsOf(seeded).filter(({ name }) => isWanted(`${name}-${look.name}.png`));
      if (shots.length > 0) await shoot(browser, look, shots);
    }
    const [slowest] = paints.toSorted((a, b) => b.ms - a.ms);
    if (slowest) console.log(`largest contentful paint: ${Math.round(slowest.ms)} ms at most, in ${slowest.file}`);
    for (const { what, worst } of shifts.toSorted((a, b) => b.worst - a.worst).slice(0, 8)) {
      console.log(`layout shift: ${worst.toFixed(3)} in ${what}`);
    }
  } finally {
    await browser.close();
  }
} finally {
  await installation.stop();
}

function isWanted(name: string): boolean {
  return wanted.length === 0 || wanted.some((word) => name.includes(word));
}

/** The first visitor's view, before there is an owner, a project, a key or a job. */
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
    await stranger.goto(`${installation.server.url}/app/welcome#gone`);
    await stranger.reload();
    await stranger.getByText("has expired or is incomplete").waitFor();
    await take("welcome-gone", stranger);
    await stranger.context().close();
    const page = await logIn(browser, installation, look);
    for (const [name, path] of Object.entries(emptyPages)) {
      await page.goto(`${installation.server.url}/app${path}`);
      await page.waitForLoadState("networkidle");
      await reportShifts(page, `empty-${name}-${look.name}.png`);
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
      // A page before this one may still wait for an answer.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.goto(`${installation.server.url}${path}`);
      await page.waitForLoadState("networkidle");
      await reportShifts(page, file);
      paints.push({ file, ms: await largestPaintMs(page) });
      await act?.(page);
      // A request may be blocked on purpose.
      await page.waitForLoadState("networkidle", { timeout: 3_000 }).catch(() => {});
      if (act) await reportShifts(page, `${file} after its action`);
      await page.screenshot({ path: join(folder, file), fullPage: !isLong });
    } catch (error) {
      console.error(`${file} could not be taken: ${error}`);
      process.exitCode = 1;
    }
  }
  await page.unrouteAll();
  await page.context().clearCookies();
  await page.goto(`${installation.server.url}/app`);
  await page.getByRole("heading", { name: /log in/i }).waitFor();
  await page.screenshot({ path: join(folder, `login-${look.name}.png`) });
  await page.getByLabel("Email address").fill("nobody@example.com");
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByText("Can't log in?").click();
  await page.screenshot({ path: join(folder, `login-refused-${look.name}.png`), fullPage: true });
  await page.context().close();
}

/** Layout shift without recent input, as in the Web Vitals. */
async function reportShifts(page: Page, what: string): Promise<void> {
  const { worst, from } = await takeShifts(page);
  shifts.push({ what, worst });
  if (worst <= shiftMax) return;
  console.error(`${what} moves: ${worst.toFixed(3)}, at most ${shiftMax} is allowed\n${from}`);
  process.exitCode = 1;
}

async function logIn(browser: Browser, { server }: Installation, look: object): Promise<Page> {
  const page = await (await browser.newContext({ ...look, reducedMotion: "reduce" })).newPage();
  page.setDefaultTimeout(60_000);
  await watchShifts(page);
  await page.goto(await server.admin.createLoginLink("/app"));
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}
