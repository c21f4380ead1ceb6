import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

// Tests start processes by the thousand, each by a fork whose price grows with the memory that its parent holds: glibc
// keeps less of it so.
process.env.MALLOC_ARENA_MAX ??= "2";

const appFiles = "packages/dashboard/src/**/*.test.ts";
const browserFiles = "packages/dashboard/test/browser/**/*.test.ts";
/** What `npm test` leaves to `npm run test:all`. */
const wideFiles = "packages/**/*.wide.test.ts";
const shared = {
  pool: "forks",
  // Files that one process runs after another share its modules, which hold no state: to start one and to load
  // everything anew for each file was a third of the run.
  isolate: false,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // What is waited for is waited for on a busy machine too.
  expect: { poll: { timeout: 20_000 } },
  // For the processes that tests start: most of the time of one that is killed soon would go into compiling.
  env: {
    NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compile"),
    // The git configuration of the person who runs the tests (signed commits, hooks) is not part of them.
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  },
} as const;
/** Vitest would add the condition "development", which loads builds of libraries that users do not run. */
const plainNode = { ssr: { resolve: { conditions: ["node"] } } };
/** Loaded by Node itself, as Emend is, and not by a bundler. */
const native = { ...shared, experimental: { viteModuleRunner: false, nodeLoader: false } } as const;

export default defineConfig(({ mode }) => ({
  test: {
    // Two more than the cores of a small machine: many tests wait for processes and pages.
    maxWorkers: 4,
    allowOnly: false,
    // For every project, once: a Postgres for all the tests of a run.
    globalSetup: ["packages/testkit/src/global-setup.ts"],
    projects: [
      {
        ...plainNode,
        test: {
          ...native,
          name: "unit",
          include: ["packages/*/{src,test}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, appFiles, browserFiles, ...(mode === "quick" ? [wideFiles] : [])],
        },
      },
      // What a bundler makes a page of.
      { test: { ...shared, name: "app", include: [appFiles] } },
      {
        ...plainNode,
        // Apart, so that a build and a browser are made only where one of these files is to run.
        test: {
          ...native,
          name: "browser",
          include: [browserFiles],
          exclude: [...configDefaults.exclude, ...(mode === "quick" ? [wideFiles] : [])],
          globalSetup: ["packages/dashboard/test/browser/support/global-setup.ts"],
        },
      },
    ],
  },
}));
