import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { whyNotNewName, whyNotPath } from "./overlay.ts";

test.each([
  "a.md",
  "docs/é.md",
  "docs/with space.md",
  "docs/tab\tand\nnewline.md",
  ".github/workflows/x.yml",
  ".gitignore",
  ".gitattributes",
  "a.git/config",
  "git/x",
  "...",
  "docs/..hidden",
  `${"a".repeat(255)}`,
  Array.from({ length: 16 }, () => "a".repeat(255)).join("/"),
])("admits %j", (path) => {
  expect(whyNotPath(path)).toBeNull();
});

test.each([
  "",
  "/etc/passwd",
  "a/",
  "a//b",
  ".",
  "..",
  "a/./b",
  "a/../../b",
  ".git",
  ".git/config",
  "a/.git/hooks/post-checkout",
  ".GIT/config",
  ".Git",
  ".g\u200cit/config",
  ".gi\ufefft",
  "\u200d.git",
  ".git\u206f/x",
  "git~1/config",
  "GIT~1",
  "git~2",
  ".git.",
  ".git ",
  ".git . ./x",
  ".git::$INDEX_ALLOCATION",
  ".git::$INDEX_ALLOCATION/config",
  ".git:stream",
  "git~1:x",
  "a\\b",
  "..\\..\\x",
  ".git\\config",
  "a\0b",
  "a\ud800",
  "a".repeat(256),
  "é".repeat(128),
  Array.from({ length: 17 }, () => "a".repeat(255)).join("/"),
])("refuses %j", (path) => {
  expect(whyNotPath(path)).not.toBeNull();
});

test("whatever git would refuse to check out on any system is refused", () => {
  const pieces = fc.constantFrom(
    ...[".", "g", "i", "t", "G", "I", "T", "~", "1", " ", ":", "/", "\u200c", "\u202e", "x"],
  );
  const paths = fc.sample(
    fc.array(pieces, { minLength: 1, maxLength: 9 }).map((parts) => parts.join("")),
    {
      numRuns: 20_000,
      seed: 7,
    },
  );
  const spiced = paths.flatMap((path) => [path, `.git${path}`, `git~1${path}`, `a/${path}/b`]);
  const admitted = [...new Set(spiced)].filter((path) => whyNotPath(path) === null);
  expect(admitted.length).toBeGreaterThan(1_000);
  expect(pathsRefusedByGit(admitted)).toEqual([]);
  expect(pathsRefusedByGit(["a", ".g\u200cit/x", "git~1", "a/.GIT ", "../a"])).toHaveLength(4);
});

/** git's own check of index paths, with the protections for every system on. */
function pathsRefusedByGit(paths: readonly string[]): string[] {
  const dir = mkdtempSync(join(tmpdir(), "emend-paths-"));
  try {
    const git = (args: string[], input?: string) =>
      spawnSync("git", ["-c", "core.protectHFS=true", "-c", "core.protectNTFS=true", ...args], {
        cwd: dir,
        input,
        maxBuffer: 2 ** 28,
      });
    git(["init", "--quiet"]);
    const refused: string[] = [];
    const records = paths.map((path) => `100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t${path}\0`);
    const { stderr } = git(["update-index", "-z", "--add", "--index-info"], records.join(""));
    for (const line of stderr.toString().split("\n")) {
      if (line.startsWith("Ignoring path ")) refused.push(line.slice("Ignoring path ".length));
      else if (line.startsWith("error: Invalid path")) refused.push(line);
    }
    return refused;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test.each([
  "a:b.md",
  "what?.md",
  "docs/nul.md",
  "docs/COM1",
  "docs/lpt\u00b9.txt",
  "docs /x.md",
  "docs/x.",
  'a"b',
  "a|b",
  "a\tb",
  "<a>",
])("a new file cannot be called %j, which Windows cannot hold", (path) => {
  expect(whyNotNewName(path)).toMatch(/Windows/);
});

test.each(["a.md", "docs/console.md", "com10.md", "null/x", "é😀.md", "[slug].md", ".hidden", "a..b"])(
  "a new file can be called %j",
  (path) => {
    expect(whyNotNewName(path)).toBeNull();
  },
);
