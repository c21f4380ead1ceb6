// Costly: a backup is taken while another process writes.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Installation, startInstallation } from "./support/installation.ts";
import { runEmend } from "./support/run-emend.ts";
import { makeDataDir } from "./support/temp-dir.ts";

let emend: Installation;
beforeAll(async () => {
  emend = await startInstallation();
}, 120_000);
afterAll(() => emend.stop());

test("what backup writes while the server runs, restore puts into an empty installation and no other", async () => {
  const archive = join(emend.dir, "archive");
  const written = await runEmend(["backup", archive, "--data", emend.dataDir, "--json"]);
  expect(written.code).toBe(0);
  expect(JSON.parse(written.stdout)).toMatchObject({ folder: archive, repositories: 1 });
  expect(await readdir(archive)).toContain("manifest.json");
  expect((await runEmend(["backup", archive, "--data", emend.dataDir])).code).not.toBe(0);

  const secret = await readFile(join(emend.dataDir, "secret"), "utf8");
  const env = { EMEND_DATA_DIR: await makeDataDir(join(emend.dir, "second")), EMEND_SECRET: secret.trim() };
  const restored = await runEmend(["restore", archive], { env });
  expect(restored).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("1 local repository") });
  const { stdout } = await runEmend(["project", "list", "--json"], { env });
  expect(JSON.parse(stdout).map(({ id }: { id: string }) => id)).toEqual([emend.project]);

  const again = await runEmend(["restore", archive], { env });
  expect(again.code).not.toBe(0);
  expect(again.stderr.trimEnd().split("\n")).toHaveLength(1);
}, 120_000);
