import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPackage } from "../../../scripts/build.ts";
import { makeTempDir, removeDir } from "./support/temp-dir.ts";

let dir: string;
beforeAll(async () => {
  dir = await makeTempDir();
});
afterAll(() => removeDir(dir));

// `build.wide.test.ts` installs the package and runs it.
test("the package has every file that it imports, or is not built", async () => {
  await buildPackage(dir);
  const commands = await readFile(join(dir, "packages/cli/src/commands/stdio-servers.js"), "utf8");
  const mcp = /import\("([^"]*\/mcp\/[^"]*)"\)/.exec(commands)?.[1] ?? "";
  expect(await readFile(join(dir, "packages/cli/src/commands", mcp), "utf8")).toContain("export");
});
