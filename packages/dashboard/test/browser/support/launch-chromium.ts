import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { type BrowserServer, chromium } from "playwright-core";
import { type ChromiumSource, chromiumSources, type Machine } from "./find-chromium.ts";
import { unpackChromium } from "./unpack-chromium.ts";

const advice =
  "The browser suite needs a browser, and none started. Install Chromium, Google Chrome or Microsoft Edge, or set CHROMIUM_PATH to one. Tried:";
const installMsMax = 600_000;

const thisMachine: Machine = {
  env: process.env,
  platform: process.platform,
  arch: process.arch,
  isRoot: process.getuid?.() === 0,
  exists: existsSync,
  unpackFromNpm: unpackChromium,
  async run(program, args) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: "10000" };
    await promisify(execFile)(program, args, { env, timeout: installMsMax, maxBuffer: 64 * 1024 * 1024 });
  },
};

/** A Chromium that contacts only the pages that it opens. All test files connect to the same one. */
export async function launchChromium(sources = chromiumSources(thisMachine)): Promise<BrowserServer> {
  const refusals: string[] = [];
  for (const source of sources) {
    console.log(`Browser suite: trying ${source.name}`);
    try {
      return await launch(source);
    } catch (error) {
      refusals.push(`- ${source.name}: ${reasonOf(error)}`);
    }
  }
  throw new Error([advice, ...refusals].join("\n"));
}

async function launch({ prepare }: ChromiumSource): Promise<BrowserServer> {
  const { executablePath, env } = await prepare();
  return chromium.launchServer({
    ...(executablePath && { executablePath }),
    args: [
      // Chromium's sandbox refuses to run as root, and most containers do.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--headless",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
    env: { ...process.env, ...env },
  });
}

/** The line of a long error message that has the reason. */
function reasonOf(error: unknown): string {
  const { message, stderr = "" } = error as Error & { stderr?: string };
  const lines = (stderr || message).split("\n").map((line) => line.trim());
  return lines.find((line) => /error|failed|unable|cannot|not found|no such/i.test(line)) ?? lines[0] ?? "";
}
