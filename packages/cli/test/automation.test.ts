import { afterAll, beforeAll, expect, test } from "vitest";
import { type Installation, startInstallation } from "./support/installation.ts";
import { runEmend } from "./support/run-emend.ts";

let emend: Installation;
beforeAll(async () => {
  emend = await startInstallation();
});
afterAll(() => emend.stop());

const automation = (...args: string[]) => runEmend(["automation", ...args, "--data", emend.dataDir]);

test("an automation is added, listed, run, paused, resumed and removed", async () => {
  const prompt = 'Replace "Acme" with "Apex".';
  const added = await automation(
    "add",
    emend.project,
    "Names",
    prompt,
    "--cron",
    "0 9 * * 1",
    "--timezone",
    "Asia/Tokyo",
  );
  expect(added.stdout).toMatch(/^aut_\w+\n$/);
  expect(added.stderr).toMatch(/runs next at \d{4}-\d\d-\d\dT00:00:00/);
  const id = added.stdout.trim();

  const listed = await automation("list", "--project", emend.project);
  expect(listed.stdout).toMatch(/Names +0 9 \* \* 1 \(Asia\/Tokyo\) +next \d{4}-\d\d-\d\d 00:00/);
  const run = await automation("run", id);
  expect(run.stdout).toMatch(/^job_\w+\n$/);
  expect(run.stderr).toContain("Made job job_");
  const waited = await runEmend(["job", "watch", emend.project, run.stdout.trim()], { env: emend.env });
  expect(waited.code).toBe(0);

  const shown = JSON.parse((await automation("show", id, "--json")).stdout);
  expect(shown).toMatchObject({ automation: { id, name: "Names" }, runs: [{ state: "started" }] });
  expect((await automation("show", id)).stdout).toMatch(/Asia\/Tokyo[\s\S]*TIME +STATE[\s\S]*started +Made job/);

  expect(JSON.parse((await automation("pause", id, "--json")).stdout)).toEqual({ id, action: "pause" });
  expect((await automation("list")).stdout).toContain("paused");
  expect((await automation("resume", id)).stderr).toBe("Resumed.\n");
  expect((await automation("remove", id)).code).toBe(0);
  expect((await automation("list", "--json")).stdout).toBe("[]\n");
});

test("what cannot be is refused with the exit code that fits", async () => {
  const bad = await automation("add", emend.project, "Bad", "Do {{this}}.");
  expect({ code: bad.code, stdout: bad.stdout }).toEqual({ code: 4, stdout: "" });
  expect(bad.stderr).toContain("{{this}}, which stands for nothing");
  const both = await automation("add", emend.project, "Bad", "x", "--cron", "* * * * *", "--push", "api");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("not both")]);
  expect((await automation("add", emend.project, "Bad", "x", "--tag", "v*")).code).toBe(2);
  expect((await automation("add", emend.project, "Bad", "x", "--timezone", "UTC")).code).toBe(2);
  expect((await automation("run", "aut_none")).code).toBe(4);
});
