import { type BrowserServer, chromium } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

const advice = [
  "No Chromium could be started, and the browser suite needs one.",
  "Install Chromium or Google Chrome (Debian: apt install chromium), or set CHROMIUM_PATH to where one is.",
  "On Linux x64 `npm install` brings one along; if that one did not start, its words are below.",
].join("\n");

/** A Chromium that talks to nobody but the pages that it opens; every test file connects to the same one. */
export async function launchChromium(): Promise<BrowserServer> {
  const refusals: unknown[] = [];
  for await (const { executablePath, env } of findChromium(process.env)) {
    try {
      return await chromium.launchServer({ executablePath, args, env: { ...process.env, ...env } });
    } catch (error) {
      refusals.push(error);
    }
  }
  throw new AggregateError(refusals, [advice, ...refusals.map(String)].join("\n\n"));
}

const args = [
  // Chromium's own sandbox refuses to run as root, as in most containers.
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  "--headless",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
