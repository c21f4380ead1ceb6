import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { registerCheckCommand } from "./check-command.ts";

async function run(...args: string[]): Promise<{ code: unknown; output: string }> {
  const written: string[] = [];
  const stream = { write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream;
  const { env, stdin } = process;
  const program = new Command().exitOverride();
  registerCheckCommand(program, { env, stdin, stdout: stream, stderr: stream, signal: new AbortController().signal });
  const before = process.exitCode;
  try {
    await program.parseAsync(["check", ...args], { from: "user" });
    return { code: process.exitCode, output: written.join("").trimEnd() };
  } finally {
    process.exitCode = before;
  }
}

describe("emend check", () => {
  let dir = "";
  let cache = "";
  beforeEach(async () => {
    vi.stubEnv("GITHUB_ACTIONS", "");
    cache = await mkdtemp(join(tmpdir(), "emend-check-cache-"));
    vi.stubEnv("XDG_CACHE_HOME", cache);
    dir = await mkdtemp(join(tmpdir(), "emend-check-"));
    await writeFile(join(dir, "a.md"), "# A\n\n[b](instal.md) and [gone](nowhere/at/all.md)\n");
    await writeFile(join(dir, "install.md"), "# Install\n\n![](x.png)\n");
    await writeFile(join(dir, "x.png"), "");
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const one of [dir, cache]) await rm(one, { recursive: true, force: true });
  });

  it("prints the documented JSON and ends with 1 on errors", async () => {
    const { code, output } = await run(dir, "--json");
    const { findings, ...rest } = JSON.parse(output);
    expect(code).toBe(1);
    expect(rest).toEqual({
      framework: "markdown",
      root: "",
      pages: 2,
      links: { links: 2, unjudged: 0, reasons: {} },
      outside: { documents: 0, sites: [] },
    });
    expect(findings[0]).toEqual({
      check: "broken-link",
      severity: "error",
      path: "a.md",
      line: 3,
      column: 5,
      message: "`instal.md` links to a missing page; link to `install.md` instead.",
      certainty: "certain",
    });
  });

  it("groups findings by file with the line they are on", async () => {
    const { output } = await run(dir);
    expect(output).toContain("a.md\n");
    expect(output).toContain("3 │ [b](instal.md)");
    expect(output).toMatch(/✖ 1 error, 2 warnings · 2 pages \(markdown\)/);
  });

  it("applies the certain fixes and reports the rest", async () => {
    const { code, output } = await run(dir, "--fix", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(output).fixed).toBe(1);
    expect(JSON.parse(output).findings.map(({ check }: { check: string }) => check)).toEqual([
      "broken-link",
      "image-alt",
    ]);
    expect(await readFile(join(dir, "a.md"), "utf8")).toBe("# A\n\n[b](install.md) and [gone](nowhere/at/all.md)\n");
  });

  it("reports only what is new since a commit", async () => {
    const git = (...args: string[]): unknown =>
      execFileSync("git", ["-C", dir, "-c", "user.name=T", "-c", "user.email=t@t", ...args], { stdio: "pipe" });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    expect(JSON.parse((await run(dir, "--base", "HEAD", "--json")).output).findings).toEqual([]);
    await writeFile(join(dir, "b.md"), "[x](#none)\n");
    const { code, output } = await run(dir, "--base", "HEAD", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(output).findings).toMatchObject([{ check: "broken-anchor", path: "b.md" }]);
  });

  it("speaks SARIF, and annotates on GitHub", async () => {
    const sarif = JSON.parse((await run(dir, "--sarif")).output);
    expect(sarif).toMatchObject({
      version: "2.1.0",
      runs: [{ results: [{ ruleId: "broken-link", level: "error" }, {}, {}] }],
    });
    vi.stubEnv("GITHUB_ACTIONS", "true");
    vi.stubEnv("GITHUB_WORKSPACE", dir);
    expect((await run(dir)).output).toContain("::error file=a.md,line=3,col=5,title=broken-link::");
    // A page's text must not become a GitHub workflow command.
    await writeFile(join(dir, "b.md"), '<a href="x\n::stop-commands::y">b</a>\n');
    expect((await run(dir)).output).not.toMatch(/^::stop-commands/m);
  });

  it("speaks GitLab's code quality report, with paths from the top of the repository", async () => {
    await mkdir(join(dir, "docs"));
    await writeFile(join(dir, "docs", "c.md"), "[x](none.md)\n\n[x](none.md)\n");
    execFileSync("git", ["-C", dir, "init", "-q"]);
    const report = JSON.parse((await run(join(dir, "docs"), "--gitlab")).output);
    expect(report).toMatchObject([
      {
        description: "`none.md` links to a missing page; correct or remove the link.",
        check_name: "broken-link",
        severity: "major",
        location: { path: "docs/c.md", lines: { begin: 1 } },
      },
      { location: { path: "docs/c.md", lines: { begin: 3 } } },
    ]);
    expect(new Set(report.map(({ fingerprint }: { fingerprint: string }) => fingerprint)).size).toBe(2);
  });

  it("judges MDX by the full parser", async () => {
    await writeFile(join(dir, "c.mdx"), "# C\n\n<Card>\n\nnever closed\n");
    const { findings } = JSON.parse((await run(dir, "--json")).output);
    expect(findings).toContainEqual(expect.objectContaining({ check: "mdx-syntax", path: "c.mdx", line: 3 }));
  });

  it("remembers what it read in the person's cache, and not with --no-cache", async () => {
    const packs = async (): Promise<string[]> =>
      (await readdir(cache, { recursive: true })).filter((name) => name.endsWith(".pack"));
    const fresh = await run(dir, "--json", "--no-cache");
    expect(await packs()).toEqual([]);
    expect(await run(dir, "--json")).toEqual(fresh);
    const [pack = ""] = await packs();
    expect(pack).toMatch(/^emend\/check\/[0-9a-f]{16}\//);
    expect((await readFile(join(cache, pack), "utf8")).match(/\n/g)).toHaveLength(2);
    expect(await run(dir, "--json")).toEqual(fresh);
    expect(await packs()).toEqual([pack]);
    await writeFile(join(dir, "a.md"), "# A\n");
    expect(JSON.parse((await run(dir, "--json")).output).findings).toMatchObject([{ check: "image-alt" }]);
    expect(await packs()).toHaveLength(2);
  });

  it("does without a cache where none can be written", async () => {
    const file = join(dir, "x.png");
    for (const name of ["XDG_CACHE_HOME", "HOME", "TMPDIR"]) vi.stubEnv(name, file);
    expect((await run(dir, "--json")).code).toBe(1);
  });

  it("keeps caches of the sixteen folders that were checked last", async () => {
    for (let n = 0; n < 18; n++) {
      const folder = join(dir, `site-${n}`);
      await mkdir(folder);
      await writeFile(join(folder, "a.md"), "# A\n");
      await run(folder, "--json");
    }
    expect(await readdir(join(cache, "emend/check"))).toHaveLength(16);
  });
});
