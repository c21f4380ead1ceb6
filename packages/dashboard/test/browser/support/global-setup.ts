import type { TestProject } from "vitest/node";
import { ensureBuild } from "../../../build/ensure-build.ts";
import { launchChromium } from "./launch-chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where test files find the suite's one browser, or why there is none. */
    browser: { url: string } | { problem: string };
  }
}

/**
 * Before the first file of the browser suite, and not where none is to run: a build and a browser. What fails here fails
 * each file of this suite: thrown, it would end the tests of all suites before the first.
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
