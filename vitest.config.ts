import { configDefaults, defineConfig } from "vitest/config";

const browserFiles = "packages/dashboard/test/browser/**/*.test.ts";
const shared = { pool: "forks", testTimeout: 120_000, hookTimeout: 120_000 } as const;

export default defineConfig({
  test: {
    maxWorkers: 2,
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
