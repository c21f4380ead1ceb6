import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { isBranchName } from "./branch-name.ts";

const names = [
  "main",
  "emend/job_1",
  "feature/ümlaut",
  "a.b",
  "a@b",
  "@",
  "v1.0-rc",
  "a",
  "",
  "-main",
  "a b",
  "a..b",
  "a.",
  "a/.b",
  ".a",
  "a.lock",
  "a.lock/b",
  "a//b",
  "/a",
  "a/",
  "a~1",
  "a^",
  "a:b",
  "a?",
  "a*",
  "a[b",
  "a\\b",
  "a@{1}",
  "a\tb",
  "a\u007fb",
  "HEAD",
];

test.each(names)("agrees with git about %j", (name) => {
  const { status } = spawnSync("git", ["check-ref-format", "--branch", name], { cwd: "/" });
  expect(isBranchName(name)).toBe(status === 0);
});

test("refuses names that no file system bears and strings that are no text", () => {
  expect(isBranchName("a".repeat(200))).toBe(true);
  expect(isBranchName("a".repeat(201))).toBe(false);
  expect(isBranchName("a\ud800")).toBe(false);
  expect(isBranchName("a\0b")).toBe(false);
});
