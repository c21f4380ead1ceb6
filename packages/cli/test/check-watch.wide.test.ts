// Costly: it watches files until a signal ends it.
import { execFileSync } from "node:child_process";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Running, startEmend } from "./support/run-emend.ts";
import { makeTempDir, removeDir } from "./support/temp-dir.ts";

let top = "";
let dir = "";
let sites = 0;
beforeAll(async () => {
  top = await makeTempDir();
});
beforeEach(async () => {
  dir = join(top, `site-${sites++}`);
  await mkdir(join(dir, "docs", "guides"), { recursive: true });
  await writeFile(join(dir, "mkdocs.yml"), "site_name: Test\n");
  await writeFile(join(dir, "docs", "index.md"), "# Home\n\n[install](guides/install.md#first)\n");
  await writeFile(join(dir, "docs", "guides", "install.md"), "# Install\n\n## First\n");
});
afterAll(() => removeDir(top));

interface Line {
  framework: string;
  pages: number;
  errors: number;
  changed: number;
  new: { check: string; path: string; line: number }[];
  fixed: { check: string; path: string }[];
}

/** Starts `check --watch --json`. `next` returns the next line that the program prints. */
async function startWatch(...args: string[]): Promise<Running & { next(): Promise<Line> }> {
  const program = startEmend(["check", dir, "--watch", "--json", ...args]);
  let read = 0;
  async function next(): Promise<Line> {
    await program.untilMatched((text) => text.split("\n").length > read + 1);
    return JSON.parse(program.stdout().split("\n")[read++] ?? "");
  }
  return { ...program, next };
}

/** Waits for a line that satisfies the condition: a slow machine may see one change as two. */
async function until(watch: { next(): Promise<Line> }, isIt: (line: Line) => boolean): Promise<Line> {
  for (;;) {
    const line = await watch.next();
    if (isIt(line)) return line;
  }
}

const write = (path: string, text: string) => writeFile(join(dir, "docs", path), text);

test("tells what is new and what is fixed, and ends with the code of the last state", async () => {
  const watch = await startWatch();
  expect(await watch.next()).toMatchObject({ framework: "mkdocs", pages: 2, errors: 0, new: [], fixed: [] });
  await write("guides/install.md", "# Install\n\n## Second\n");
  expect(await until(watch, ({ errors }) => errors === 1)).toMatchObject({
    new: [{ check: "broken-anchor", path: "docs/index.md", line: 3 }],
  });
  // A line that moves makes no finding new.
  await write("index.md", "# Home\n\n\n[install](guides/install.md#first) [gone](none.md)\n");
  expect(await until(watch, ({ errors }) => errors === 2)).toMatchObject({
    new: [{ check: "broken-link", line: 4 }],
    fixed: [],
  });
  watch.kill("SIGINT");
  expect(await watch.finished).toMatchObject({ code: 1, stderr: "" });
}, 60_000);

test("follows new, renamed and deleted folders, and no links out of the folder", async () => {
  const watch = await startWatch();
  await watch.next();
  // A whole folder at once: its files have no events of their own.
  const made = join(top, `made-${sites}`);
  await mkdir(join(made, "deep"), { recursive: true });
  await writeFile(join(made, "deep", "page.md"), "# Deep\n\n[x](none.md)\n");
  await rename(made, join(dir, "docs", "new"));
  expect(await until(watch, ({ pages }) => pages === 3)).toMatchObject({ new: [{ path: "docs/new/deep/page.md" }] });
  await rename(join(dir, "docs", "new"), join(dir, "docs", "moved"));
  const moved = await until(watch, (line) => line.new.some(({ path }) => path === "docs/moved/deep/page.md"));
  expect(moved).toMatchObject({ pages: 3 });
  // The moved folder is watched under its new name.
  await write("moved/deep/page.md", "# Deep\n");
  expect(await until(watch, ({ errors }) => errors === 0)).toMatchObject({
    fixed: [{ path: "docs/moved/deep/page.md" }],
  });
  await rm(join(dir, "docs", "moved"), { recursive: true });
  await until(watch, ({ pages }) => pages === 2);
  // Deleted and created again with the same name: the new folder is watched, not the old one.
  await rm(join(dir, "docs", "guides"), { recursive: true });
  await mkdir(join(dir, "docs", "guides"));
  await write("guides/install.md", "# Install\n\n## First\n\n## Again\n");
  await write("index.md", "# Home\n\n[install](guides/install.md#again)\n");
  const again = (line: Line): boolean => line.pages === 2 && line.errors === 0;
  await until(watch, again);
  await write("guides/install.md", "# Install\n");
  await until(watch, ({ errors }) => errors === 1);
  await write("guides/install.md", "# Install\n\n## Again\n");
  await until(watch, again);
  await mkdir(join(top, "outside"), { recursive: true });
  await writeFile(join(top, "outside", "page.md"), "[x](none.md)\n");
  await symlink(join(top, "outside"), join(dir, "docs", "linked"));
  await symlink(dir, join(dir, "docs", "round"));
  await write("last.md", "# Last\n");
  expect(await until(watch, ({ pages }) => pages > 2)).toMatchObject({ pages: 3, errors: 0 });
  watch.kill("SIGINT");
  expect(await watch.finished).toMatchObject({ code: 0, stderr: "" });
}, 60_000);

test("looks once at thousands of events of a checkout, and reads a changed configuration", async () => {
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-C", dir, "-c", "user.name=T", "-c", "user.email=t@t", ...args], { stdio: "pipe" });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "small");
  git("checkout", "-qb", "large");
  for (let n = 0; n < 20; n++) {
    await mkdir(join(dir, "docs", `part-${n}`));
    for (let m = 0; m < 30; m++) await write(`part-${n}/page-${m}.md`, `# Page ${m}\n\n[home](../index.md)\n`);
  }
  git("add", ".");
  git("commit", "-qm", "large");
  git("checkout", "-q", "main");
  const watch = await startWatch();
  expect(await watch.next()).toMatchObject({ pages: 2 });
  git("checkout", "-q", "large");
  expect(await until(watch, ({ pages }) => pages === 602)).toMatchObject({ errors: 0 });
  await mkdir(join(dir, ".emend"));
  await write("index.md", "# Home\n\n[x](#none)\n");
  await until(watch, ({ errors }) => errors === 1);
  await writeFile(
    join(dir, ".emend", "check.json"),
    '{ "checks": { "broken-anchor": "off", "broken-navigation": "error" } }',
  );
  await until(watch, ({ errors }) => errors === 0);
  await writeFile(join(dir, "mkdocs.yml"), "site_name: Test\nnav:\n  - none.md\n");
  const line = await until(watch, ({ errors }) => errors > 0);
  expect(line.new).toContainEqual(expect.objectContaining({ check: "broken-navigation", path: "mkdocs.yml" }));
  git("checkout", "-qf", "main");
  await until(watch, ({ pages }) => pages === 2);
  watch.kill("SIGTERM");
  await watch.finished;
}, 60_000);

test("prints words without clearing what is no terminal, and ends where the folder is gone", async () => {
  const program = startEmend(["check", dir, "--watch"]);
  await program.untilPrinted(`Watching ${dir}. Press Ctrl-C to stop.`);
  expect(program.stdout()).not.toContain("\u001b[2J");
  await write("index.md", "# Home\n\n[gone](none.md)\n");
  await program.untilPrinted("+ new");
  await program.untilPrinted("1 new, 0 fixed");
  await rename(dir, `${dir}-away`);
  const { code, stderr } = await program.finished;
  expect(code).toBe(2);
  expect(stderr).toBe(`emend: ${dir} is gone; start again once it is back\n`);
}, 60_000);

test("compares with a commit while it watches, and cannot fix", async () => {
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-C", dir, "-c", "user.name=T", "-c", "user.email=t@t", ...args], { stdio: "pipe" });
  await write("index.md", "# Home\n\n[old](old.md)\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  const watch = await startWatch("--base", "HEAD");
  expect(await watch.next()).toMatchObject({ errors: 0 });
  await write("guides/install.md", "# Install\n\n[new](new.md)\n");
  expect(await until(watch, ({ errors }) => errors === 1)).toMatchObject({ new: [{ path: "docs/guides/install.md" }] });
  watch.kill("SIGINT");
  expect((await watch.finished).code).toBe(1);
  const refused = await startEmend(["check", dir, "--watch", "--fix"]).finished;
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("'--watch' cannot be used with") });
}, 60_000);
