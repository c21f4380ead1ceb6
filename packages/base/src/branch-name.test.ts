import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isBranchName } from "./branch-name.ts";

function gitTakes(name: string): boolean {
  try {
    execFileSync("git", ["check-ref-format", `refs/heads/${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test.each(["main", "release/2.x", "a@b", "ümlaut", "x.locked", "a/b.c", "@x", "x".repeat(200)])("takes %s", (name) => {
  expect(isBranchName(name)).toBe(true);
});

test.each([
  [
    "",
    "-x",
    "HEAD",
    "@",
    ".a",
    "a/.b",
    "a..b",
    "a.lock",
    "a.lock/b",
    "a/",
    "/a",
    "a//b",
    "a.",
    "a b",
    "a~1",
    "a^",
    "a:b",
  ],
  ["a?", "a*", "a[0]", "a\\b", "a@{0}", "a\u0000b", "a\u007f", "a\n", "\ud800", "x".repeat(201), "ü".repeat(101)],
])("refuses each of a list", (...names) => {
  expect(names.filter(isBranchName)).toEqual([]);
});

test("agrees with git about any short name", () => {
  const part = fc.constantFrom(..."abH-._/@{~^:?*[\\ \u007f\u00fc", "..", "@{", ".lock", "HEAD", "//");
  const name = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
  // Also refused: names that git accepts, but its commands read as something else.
  const plain = name.filter((text) => !text.startsWith("-") && text !== "HEAD" && text !== "@");
  fc.assert(
    fc.property(plain, (text) => isBranchName(text) === gitTakes(text)),
    { numRuns: 50 },
  );
});
