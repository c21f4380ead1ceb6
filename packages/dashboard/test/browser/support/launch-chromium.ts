import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { type Chromium, chromiumSources, type Machine } from "./find-chromium.ts";
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

/** The first source whose browser starts. */
export async function findChromium(sources = chromiumSources(thisMachine)): Promise<Chromium> {
  const refusals: string[] = [];
  for (const source of sources) {
    console.log(`Browser suite: trying ${source.name}`);
    try {
      const found = await source.prepare();
      await (await launchChromium(found)).close();
      return found;
    } catch (error) {
      refusals.push(`- ${source.name}: ${reasonOf(error)}`);
    }
  }
  throw new Error([advice, ...refusals].join("\n"));
}

/** A Chromium that contacts only the pages that it opens. */
export function launchChromium({ executablePath, env }: Chromium): Promise<Browser> {
  return chromium.launch({
    ...(executablePath && { executablePath }),
    // Windows have scroll bars, as most people's do: what comes late may make a page narrower. A phone's is 375 px wide then.
    ignoreDefaultArgs: ["--hide-scrollbars"],
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

let launched: Promise<Browser> | undefined;

/**
 * One browser for all test files of a process. It ends with the process. One for all processes would need a server
 * between, through which each message passes twice more.
 */
export function sharedChromium(found: Chromium): Promise<Browser> {
  launched ??= launchChromium(found);
  return launched;
}

/** The line of a long error message that has the reason. */
function reasonOf(error: unknown): string {
  const { message, stderr = "" } = error as Error & { stderr?: string };
  const lines = (stderr || message).split("\n").map((line) => line.trim());
  return lines.find((line) => /error|failed|unable|cannot|not found|no such/i.test(line)) ?? lines[0] ?? "";
}
