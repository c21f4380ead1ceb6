// Costly: the demo starts a server of its own, as the first command that people type.
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runEmend, startEmend } from "./support/run-emend.ts";
import { hashFolder, makeDataDir, makeTempDir, removeDir } from "./support/temp-dir.ts";

let dir: string;
let data: string;
beforeAll(async () => {
  dir = await makeTempDir();
  data = await makeDataDir(join(dir, "data"));
});
afterAll(() => removeDir(dir));

test("prints one line of JSON for the sample, whatever the environment configures", async () => {
  const env = {
    EMEND_DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
    EMEND_PORT: "1",
    OPENAI_API_KEY: "sk-secret",
  };
  const { code, stdout, stderr } = await runEmend(["demo", "--data", data, "--json"], { env });

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  const result = JSON.parse(stdout);
  expect(Object.keys(result)).toEqual(["id", "status", "prLink", "changedFiles", "elapsedMs"]);
  expect(result).toMatchObject({ status: "completed", changedFiles: 18 });
  expect(result.prLink).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/.+\/pull\/1$/);
});

test("tells the journey a second time in plain lines, and the line at its end opens the pull request, once", async () => {
  const { code, stdout } = await runEmend(["demo", "--data", data], { env: { OPENAI_API_KEY: "sk-secret" } });

  expect(code).toBe(0);
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toContain("sk-secret");
  const phases = [...stdout.matchAll(/^ {2}✓ (\w+)/gm)].map(([, name]) => name);
  expect(phases).toEqual(["server", "import", "check", "queued", "preparing", "working", "checking", "publishing"]);
  expect(stdout).toContain("5 broken links, 1 orphan page, 1 broken anchor");
  expect(stdout).toContain("18 files");
  expect(stdout).toContain("7 before, 4 after; none new");
  expect(stdout).toContain("emend/rules, deterministic");
  expect(stdout).toContain("/guides/terraform links to a missing page");
  const hints = stdout.split("\n").filter((line) => line.includes("OPENAI_API_KEY"));
  expect(hints).toEqual([expect.stringContaining("is set and not used: EMEND_MODEL=openai/gpt-5 would use it")]);

  const [, line = ""] = /^ +npx emend (serve --data .+ --port \d+ --link \S+)$/m.exec(stdout) ?? [];
  // As the person's shell splits it.
  const words = execFileSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
  const serving = startEmend(words, { env: { OPENAI_API_KEY: "sk-secret" } });
  await serving.untilPrinted('"event":"link"');
  const link = /http:\/\/\S+\/login\/[^"\s]+/.exec(serving.stdout().split('"event":"link"')[1] ?? "")?.[0] ?? "";
  const opened = await fetch(link, { redirect: "manual" });
  const landing = opened.headers.get("location") ?? "";
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  const page = await fetch(landing, { headers: { cookie } });
  expect(page.status).toBe(200);
  // The page's own requests.
  const pull = page.url.replace("/app/", "/dashboard/api/");
  const told = await fetch(pull, { headers: { cookie } });
  expect(await told.text()).toContain("Move guides/auth to security/authentication");
  expect((await fetch(pull)).status).toBe(401);
  expect((await fetch(link, { redirect: "manual" })).status).toBe(410);
  serving.kill("SIGTERM");
  const served = await serving.finished;
  expect(served.code).toBe(0);
  expect(served.stderr.trimEnd().split("\n")).toEqual([expect.stringContaining("EMEND_MODEL=openai/gpt-5 would")]);
});

test("shows how the docs follow a pull request on the code, from the failing status to the passing one", async () => {
  // A person who signs every commit, where no key can be asked for.
  await writeFile(join(dir, ".gitconfig"), "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n");
  const env = { HOME: dir };
  const { code, stdout, stderr } = await runEmend(["demo", "--drift", "--data", data, "--json"], { env });

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    pull: expect.stringMatching(/\/forge\/\w+\/pull\/1$/),
    failed: "1 page mentions what this changes.",
    prLink: expect.stringMatching(/\/pull\/1$/),
    after: "Not blocking: 1 page lacks what this adds.",
  });
});

test("fixes a copy of somebody's docs and never touches the folder", async () => {
  const repository = join(dir, "own");
  await mkdir(join(repository, "docs"), { recursive: true });
  await writeFile(join(repository, "docs", "index.md"), "# Home\n\n[Set up](setpu.md), [gone](nothing-like-it.md)\n");
  await writeFile(join(repository, "docs", "setup.md"), "# Set up\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", repository, "-c", "user.name=A", "-c", "user.email=a@example.com", ...args]);
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "docs");
  const before = await hashFolder(repository);

  const { code, stdout } = await runEmend(["demo", "--repo", "own", "--data", data], { cwd: dir });

  expect(code).toBe(0);
  expect(stdout).toContain("1 file, +1 −1 lines");
  expect(stdout).toContain("nothing-like-it.md links to a missing page");
  expect(stdout).toMatch(/ --link \/\S+\/pull\/\d+\n/);
  expect(await hashFolder(repository)).toBe(before);
});

test("ends well where nothing had to change, and refuses a folder without docs", async () => {
  const tidy = join(dir, "tidy");
  await mkdir(tidy);
  const empty = await runEmend(["demo", "--repo", tidy, "--data", data]);
  expect(empty).toMatchObject({ code: 2, stdout: "" });
  expect(empty.stderr).toContain("no page of documentation");

  await writeFile(join(tidy, "index.md"), "# Home\n");
  const { code, stdout } = await runEmend(["demo", "--repo", tidy, "--data", data, "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: "completed", prLink: null, changedFiles: 0 });
});

test("says which model failed it, with the exit code of a failed job", async () => {
  const env = { EMEND_MODEL: "anthropic/claude-sonnet-4-5" };
  const { code, stdout, stderr } = await runEmend(["demo", "--data", data, "--json"], { env });
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ status: "failed", prLink: null });
  expect(stderr).toMatch(/^emend: the job failed \(model_unavailable\):\n {2}The model anthropic\//);

  const report = await runEmend(["job", "report", JSON.parse(stdout).id, "--data", data]);
  expect(report.code).toBe(0);
  expect(report.stdout).toMatch(/^failure +model_unavailable\n[\s\S]*anthropic\/claude-sonnet-4-5/m);
});
