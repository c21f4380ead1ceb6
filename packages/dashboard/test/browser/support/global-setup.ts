import type { TestProject } from "vitest/node";
import { ensureBuild } from "../../../build/ensure-build.ts";
import type { Chromium } from "./find-chromium.ts";
import { findChromium } from "./launch-chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The suite's browser, or why there is none. */
    browser: { found: Chromium } | { problem: string };
  }
}

/**
 * Runs before the first file of the browser suite, if any runs: a build and a browser. An error here is stored, and fails
 * each file of this suite: if thrown, it would end the tests of all suites.
 */
export async function setup(project: TestProject): Promise<void> {
  try {
    await ensureBuild();
    project.provide("browser", { found: await findChromium() });
  } catch (error) {
    project.provide("browser", { problem: error instanceof Error ? error.message : String(error) });
  }
}
