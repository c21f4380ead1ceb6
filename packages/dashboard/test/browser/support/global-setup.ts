import type { TestProject } from "vitest/node";
import { ensureBuild } from "../../../build/ensure-build.ts";
import { launchChromium } from "./launch-chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where test files find the suite's one browser. */
    browserUrl: string;
  }
}

/** Before the first file of the browser suite, and not where none is to run: a build and a browser. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureBuild();
  const browser = await launchChromium();
  project.provide("browserUrl", browser.wsEndpoint());
  return () => browser.close();
}
