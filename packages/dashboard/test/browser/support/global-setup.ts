import type { TestProject } from "vitest/node";
import { ensureBuild } from "../../../build/ensure-build.ts";
import { launchChromium } from "./launch-chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the suite's browser, or why there is none. */
    browser: { url: string } | { problem: string };
  }
}

/**
 * Runs before the first file of the browser suite, if any runs: a build and a browser. An error here is stored, and fails
 * each file of this suite: if thrown, it would end the tests of all suites.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    await ensureBuild();
    const browser = await launchChromium();
    project.provide("browser", { url: browser.wsEndpoint() });
    return () => browser.close();
  } catch (error) {
    project.provide("browser", { problem: error instanceof Error ? error.message : String(error) });
    return async () => {};
  }
}
