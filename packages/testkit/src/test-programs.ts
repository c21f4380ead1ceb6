import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundlePrograms } from "../../../scripts/bundle.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
/** The programs that tests start by the hundred, each as one bundle. */
const sources = [
  "packages/testkit/src/server-process.ts",
  "packages/testkit/src/worker-process.ts",
  "packages/testkit/src/api-process.ts",
  "packages/testkit/src/forge-worker-process.ts",
  "packages/testkit/src/publish-child.ts",
  "packages/cli/src/main.ts",
];

export const bundleTestPrograms = () => bundlePrograms(sources);

/** The bundle of a program, or its source where no bundles were made, as in a copy of this checkout. */
export function programOf(script: URL | string): string {
  const source = typeof script === "string" ? script : fileURLToPath(script);
  const dir = process.env.EMEND_TEST_PROGRAMS ?? "";
  const isBundled = dir.startsWith(root) && sources.some((one) => join(root, one) === source);
  return isBundled ? join(dir, source.slice(dirname(source).length + 1).replace(/\.ts$/, ".mjs")) : source;
}
