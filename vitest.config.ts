import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

const browserFiles = "packages/dashboard/test/browser/**/*.test.ts";
const shared = {
  pool: "forks",
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // For the processes that tests start: most of the time of one that is killed soon would go into compiling.
  env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compile") },
} as const;

export default defineConfig({
  test: {
    // Two more than the cores of a small machine: many tests wait for processes and pages.
    maxWorkers: 4,
    allowOnly: false,
    // For both projects, once: a Postgres for all the tests of a run.
    globalSetup: ["packages/server/test/support/global-setup.ts"],
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["packages/*/{src,test}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, browserFiles],
        },
      },
      {
        // Apart, so that a build and a browser are made only where one of these files is to run.
        test: {
          ...shared,
          name: "browser",
          include: [browserFiles],
          globalSetup: ["packages/dashboard/test/browser/support/global-setup.ts"],
        },
      },
    ],
  },
});
