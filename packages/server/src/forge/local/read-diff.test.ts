import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { localGit } from "../../installation/local-git.ts";
import { readDiff } from "./read-diff.ts";

const gitDir = await mkdtemp(join(tmpdir(), "emend-read-diff-"));
afterAll(() => rm(gitDir, { recursive: true }));

test("of a change with very many files, the first ones are listed and the others counted", async () => {
  const run = (args: readonly string[], input = "") =>
    execFileSync("git", ["--git-dir", gitDir, ...args], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
  run(["init", "--quiet", "--bare"]);
  const commit = (mark: number, files: readonly string[]) =>
    [
      `commit refs/heads/${mark}\ncommitter A <a@b.test> 0 +0000\ndata 1\nx`,
      ...(mark === 1 ? [] : ["from refs/heads/1"]),
      ...files.map((path) => `M 100644 inline ${path}\ndata 1\na`),
    ].join("\n");
  const many = Array.from({ length: 3_010 }, (_, at) => `docs/${at}.md`);
  run(["fast-import", "--quiet"], `${commit(1, ["a.md"])}\n${commit(2, many)}\n`);
  const [base = "", head = ""] = run(["rev-parse", "1", "2"]).split("\n");
  const diff = await readDiff({ git: localGit(), gitDir }, { base, head }, AbortSignal.timeout(60_000));
  expect([diff.files.length, diff.filesLeftOut]).toEqual([3_000, 10]);
});
