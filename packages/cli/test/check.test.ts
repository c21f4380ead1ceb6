// Costly: exit codes and streams are those of a process.
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { runEmend } from "./support/run-emend.ts";
import { makeTempDir, removeDir } from "./support/temp-dir.ts";

let dir = "";
beforeAll(async () => {
  dir = await makeTempDir();
  await mkdir(join(dir, "site", "guides"), { recursive: true });
  await mkdir(join(dir, "empty"));
  await writeFile(join(dir, "site", "index.md"), "# Home\n\n[a](guides/instal.md) [b](guides/instal.md#install)\n");
  await writeFile(join(dir, "site", "guides", "install.md"), "# Install\n");
  await writeFile(join(dir, "empty", "notes.txt"), "no page\n");
  await symlink("round", join(dir, "round"));
});
afterAll(() => removeDir(dir));

const check = (...args: string[]) =>
  runEmend(["check", ...args], { cwd: dir, env: { XDG_CACHE_HOME: join(dir, "cache") } });

test.each([
  { args: ["site", "--json", "--sarif"], says: "'--json' cannot be used with option '--sarif'" },
  { args: ["site", "--base", "main"], says: "in no git repository" },
  { args: ["site", "--docs", "nope"], says: "there is no folder" },
  { args: ["site", "--docs", "../empty"], says: "is not inside" },
  { args: ["site", "--docs", "index.md"], says: "is a file, not a folder" },
  { args: ["none"], says: "there is no folder" },
  { args: ["site/index.md"], says: "is a file, not a folder" },
  { args: ["round"], says: "cannot be read (ELOOP)" },
  { args: ["empty"], says: "no page of documentation was found in" },
  { args: ["empty", "--json"], says: "no page of documentation was found in" },
])("refuses check $args with exit code 2 and one line", async ({ args, says }) => {
  const { code, stdout, stderr } = await check(...args);
  expect(stderr).toContain(says);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});

test("names a commit that the repository does not have", async () => {
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-C", dir, "-c", "user.name=T", "-c", "user.email=t@t", ...args], { stdio: "pipe" });
  git("init", "-q");
  git("add", "site");
  git("commit", "-qm", "first");
  const refused = await check("site", "--base", "nosuch");
  expect(refused).toEqual({
    code: 2,
    stdout: "",
    stderr: 'emend: --base: the repository has no commit or branch "nosuch"\n',
  });
  const same = await check("site", "--base", "HEAD", "--json");
  expect(same.code).toBe(0);
  expect(JSON.parse(same.stdout)).toMatchObject({ framework: "markdown", pages: 2, findings: [] });
  // Removed pages are compared too: the folder has no pages now, but had some before.
  await mkdir(join(dir, "gone"));
  await writeFile(join(dir, "gone", "a.md"), "# A\n");
  git("add", "gone");
  git("commit", "-qm", "second");
  await rm(join(dir, "gone", "a.md"));
  expect(await check("gone", "--base", "HEAD", "--json")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/"pages":0,.*"findings":\[\]\}\n$/),
  });
});

test("the hooks for pre-commit fail on what a commit breaks, in git's own environment too", async () => {
  const repository = join(dir, "hooked");
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-C", repository, "-c", "user.name=T", "-c", "user.email=t@t", ...args], { stdio: "pipe" });
  await mkdir(join(repository, "docs"), { recursive: true });
  await writeFile(join(repository, "docs", "a.md"), "# A\n\n[old](gone.md) [b](b.md)\n");
  await writeFile(join(repository, "docs", "b.md"), "# B\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  const hooks = parse(await readFile(join(import.meta.dirname, "../../../.pre-commit-hooks.yaml"), "utf8"));
  // In a second work tree, git passes the repository to its hooks.
  const env = { XDG_CACHE_HOME: join(dir, "cache"), GIT_DIR: join(repository, ".git") };
  const run = async (id: string): Promise<number | null> => {
    const hook = hooks.find((one: { id: string }) => one.id === id);
    const [program, command, ...rest] = hook.entry.split(" ");
    expect({ program, command, always: hook.always_run }).toEqual({ program: "emend", command: "check", always: true });
    return (await runEmend(["check", "docs", ...rest, ...(hook.args ?? [])], { cwd: repository, env })).code;
  };
  expect(await run("emend-check")).toBe(0);
  expect(await run("emend-check-all")).toBe(1);
  await rm(join(repository, "docs", "b.md"));
  expect(await run("emend-check")).toBe(1);
  const { stdout } = await runEmend(["check", "docs", "--gitlab"], { cwd: repository, env });
  expect(JSON.parse(stdout)[0].location.path).toBe("docs/a.md");
});

test("tells what cannot be read instead of calling it sound", async () => {
  const closed = join(dir, "closed");
  await mkdir(join(closed, "inner"), { recursive: true });
  await writeFile(join(closed, "a.md"), "# A\n");
  await chmod(closed, 0o755);
  await chmod(join(closed, "inner"), 0);
  const { code, stdout, stderr } = await runEmend(["check", closed, "--no-cache"], { isUnprivileged: true });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`${join(closed, "inner")} cannot be read (EACCES)`);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("counts the fixes that it made, in words and in JSON", async () => {
  const { stdout } = await check("site", "--fix", "--json");
  expect(JSON.parse(stdout)).toEqual({
    framework: "markdown",
    root: "",
    pages: 2,
    links: { links: 2, unjudged: 0, reasons: {} },
    outside: { documents: 0, sites: [] },
    fixed: 2,
    findings: [],
  });
  expect(await readFile(join(dir, "site", "index.md"), "utf8")).toBe(
    "# Home\n\n[a](guides/install.md) [b](guides/install.md#install)\n",
  );
  expect(JSON.parse((await check("site", "--fix", "--json")).stdout).fixed).toBe(0);
  await writeFile(join(dir, "site", "index.md"), "[a](guides/instal.md)\n");
  expect((await check("site", "--fix")).stdout).toContain("1 fix applied");
});
