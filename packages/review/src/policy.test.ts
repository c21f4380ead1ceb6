import { describe, expect, it } from "vitest";
import { refusedBy, violationsOf } from "./policy.ts";

const policy = { docsDir: "", allowedPaths: [], filesMax: 2, bytesMax: 10 };

describe("refusedBy", () => {
  it.each([
    ".github/workflows/deploy.yml",
    "docs/.github/CODEOWNERS",
    ".GitHub/workflows/x.yml",
    ".gitlab-ci.yml",
    ".gitlab/ci/x.yml",
    ".bitbucket/notes.md",
    ".gitattributes",
    "docs/.gitmodules",
    ".gitignore",
    ".circleci/config.yml",
    "Jenkinsfile",
    "ci/Jenkinsfile.release",
    "azure-pipelines.yml",
    "azure-pipelines-release.yaml",
    ".azure-pipelines/x.yml",
    "bitbucket-pipelines.yml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker/x.yml",
    ".buildkite/pipeline.yml",
    ".forgejo/workflows/x.yml",
    "AGENTS.md",
    "docs/agents.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    ".claude/settings.json",
    ".cursor/rules/x.mdc",
    ".cursorrules",
    ".windsurfrules",
    ".emend/instructions.md",
    ".Emend./instructions.md",
    "ＣＬＡＵＤＥ.md",
    "docs/ＡＧＥＮＴＳ.md",
    ".mcp.json",
    "CODEOWNERS",
    "docs/codeowners",
    ".git/config",
    "package.json",
    "docs/conf.py",
    "docs/requirements.txt",
    "Makefile",
    ".vscode/tasks.json",
    "guides/.hidden.md",
    "custom.js",
    "x.html",
  ])("refuses %s", (path) => {
    expect(refusedBy(policy, path)).toMatch(/jobs don't change|neither a document/);
  });

  it.each([
    "guides/auth.mdx",
    "docs.json",
    "git.md",
    ".gitbook.yaml",
    "docs/.gitbook/assets/a.png",
    "mkdocs.yml",
    "docs/.vitepress/config.ts",
    "_redirects",
    "guides/_meta.ts",
    "img/logo.SVG",
    "llms.txt",
    "new.rst",
    "new.adoc",
    "jenkins.md",
    "codeowners.md",
    "agents/list.md",
    "claude/x.md",
  ])("admits %s", (path) => {
    expect(refusedBy(policy, path)).toBeNull();
  });

  it.each([".git\u200bhub/x.yml", "a\nb.md", "a\u202emd.exe", "\x1b[2J.md"])(
    "refuses a name with what cannot be seen: %j",
    (path) => {
      expect(refusedBy(policy, path)).toContain("invisible characters");
    },
  );

  it("refuses what lies outside the documentation folder", () => {
    const inDocs = { docsDir: "docs", allowedPaths: [] };
    expect(refusedBy(inDocs, "docs/a.md")).toBeNull();
    expect(refusedBy(inDocs, "README.md")).toContain("outside the documentation folder docs");
    expect(refusedBy(inDocs, "docs-old/a.md")).toContain("outside");
    expect(refusedBy(inDocs, "docs")).toContain("outside");
  });

  it("admits a site's configuration in a folder above its pages", () => {
    const inDocs = { docsDir: "site/docs", allowedPaths: [] };
    expect(refusedBy(inDocs, "site/mkdocs.yml")).toBeNull();
    expect(refusedBy(inDocs, "mkdocs.yml")).toBeNull();
    expect(refusedBy(inDocs, "other/mkdocs.yml")).toContain("outside");
    expect(refusedBy(inDocs, "site/index.md")).toContain("outside");
  });

  it("admits what the project allows, and no more", () => {
    const allowing = { docsDir: "docs", allowedPaths: [".github/ISSUE_TEMPLATE/*.md", "examples/**", "**/AGENTS.md"] };
    expect(refusedBy(allowing, ".github/ISSUE_TEMPLATE/bug.md")).toBeNull();
    expect(refusedBy(allowing, ".github/ISSUE_TEMPLATE/deep/bug.md")).not.toBeNull();
    expect(refusedBy(allowing, ".github/workflows/x.md")).not.toBeNull();
    expect(refusedBy(allowing, "examples/a/b.json")).toBeNull();
    expect(refusedBy(allowing, "AGENTS.md")).toBeNull();
    expect(refusedBy(allowing, "xAGENTSxmd")).not.toBeNull();
  });
});

describe("allowed paths", () => {
  const admits = (pattern: string, path: string) =>
    refusedBy({ docsDir: "none", allowedPaths: [pattern] }, path) === null;

  it.each([
    ["a/b.md", "a/b.md", true],
    ["a/*.md", "a/b.md", true],
    ["a/*.md", "a/b/c.md", false],
    ["a/*", "a/", true],
    ["a/*b*c", "a/xbxbxc", true],
    ["a/*b*c", "a/xcxb", false],
    ["a/ab*ba", "a/aba", false],
    ["**", "a/b/c", true],
    ["a/**", "a/b/c", true],
    ["a/**/c", "a/c", true],
    ["a/**/c", "a/b/b/c", true],
    ["**/c.md", "c.md", true],
    ["**/c.md", "a/xc.md", false],
    ["a.b", "axb", false],
  ])("%s and %s: %s", (pattern, path, isAdmitted) => {
    expect(admits(pattern, path)).toBe(isAdmitted);
  });

  it("are matched in bounded work", () => {
    expect(admits(`${"*a".repeat(400)}b`, "a".repeat(4_000))).toBe(false);
    expect(admits(`${"**/a*/".repeat(100)}b`, "a/".repeat(1_000))).toBe(false);
  });
});

describe("violationsOf", () => {
  const entry = (path: string, content: string | null) => ({
    path,
    mode: "100644" as const,
    content: content === null ? null : Buffer.from(content),
  });

  it("names each forbidden path with its rule", () => {
    const violations = violationsOf(policy, [entry("a.md", "x"), entry(".github/x.yml", null)]);
    expect(violations).toEqual([{ path: ".github/x.yml", rule: "jobs don't change git and forge settings" }]);
  });

  it("caps files and bytes", () => {
    expect(violationsOf(policy, [entry("a.md", "12345"), entry("b.md", "67890")])).toEqual([]);
    const files = violationsOf(policy, [entry("a.md", "1"), entry("b.md", null), entry("c.md", null)]);
    expect(files.map(({ rule }) => rule)).toEqual(["3 files changed, more than the 2 allowed"]);
    const bytes = violationsOf(policy, [entry("a.md", "12345678901")]);
    expect(bytes.map(({ rule }) => rule)).toEqual(["11 bytes written, more than the 10 allowed"]);
  });
});
