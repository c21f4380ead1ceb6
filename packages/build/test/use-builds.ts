import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { startBound } from "@emend/tree";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type BuildsConfig, createBuilds } from "../src/builds.ts";

export const limits = { timeoutMs: 60_000, memoryBytesMax: 2 ** 30, processesMax: 256, diskBytesMax: 64 * 2 ** 20 };

/** Chromium needs more than most builders. */
export const limitsWithBrowser = { ...limits, memoryBytesMax: 2 ** 31 };

/** Repositories, and builds of them in the real sandbox, without a network. Each test has its own folder. */
export function useBuilds(ofBuilds = limits) {
  let trees: TestTrees;
  let dir: string;
  beforeAll(async () => {
    trees = await openTestTrees();
  });
  afterAll(() => trees.close());
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "emend-builds-test-"));
  });
  afterEach(() => rm(dir, { recursive: true }));
  return {
    get dir() {
      return dir;
    },
    get trees() {
      return trees;
    },
    open(config: Partial<BuildsConfig> = {}) {
      const fetch = () => Promise.reject(new Error("no network in this test"));
      const path = process.env.PATH ?? "";
      const own = { atOnceMax: 2, limits: ofBuilds, registry: "https://registry.invalid/", path, ...config };
      return createBuilds({ start: startBound, fetch, config: own, dir });
    },
  };
}
