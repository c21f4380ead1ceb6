import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = [
  process.env.CHROMIUM_PATH,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** A Chromium of this machine, told to talk to nobody but the pages that it opens. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = places.find((path) => path !== undefined && existsSync(path));
  if (!executablePath) {
    throw new Error("no Chromium found: install one, or set CHROMIUM_PATH to where it is");
  }
  return chromium.launch({
    executablePath,
    args: [
      // Chromium's own sandbox refuses to run as root, as in most containers.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}
