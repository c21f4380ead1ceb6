import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RepositoryFile } from "@emend/testkit/make-repository.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Mirror } from "../mirror/mirror.ts";

let bench: MirrorBench;
beforeAll(() => {
  bench = openMirrorBench();
});
afterAll(() => bench.close());

/** Two commits in one mirror. */
async function compare(before: Record<string, RepositoryFile>, after: Record<string, string | Buffer | null>) {
  const { mirror, overlay, commit, gitDir } = await bench.tree(before);
  for (const [path, content] of Object.entries(after)) {
    if (content === null) await overlay.delete(path);
    else await overlay.set(path, Buffer.from(content));
  }
  const author = { name: "n", email: "e" };
  const input = { jobId: "job_1", base: commit, entries: overlay.entries(), message: "m", author, date: new Date(0) };
  const { commitId } = await mirror.commit(input, bench.signal);
  return { mirror, gitDir, range: { from: commit, to: commitId } };
}
const patchOf = async (mirror: Mirror, range: { from: string; to: string; bytesMax?: number }) =>
  (await mirror.diff(range, bench.signal)).patch.toString();

test("shows edits, additions, deletions and moves", async () => {
  const page = `${Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n")}\n`;
  const { mirror, range } = await compare(
    { "a.md": "one\ntwo\n", "gone.md": "bye\n", "old/page.md": page, "ü.bin": Buffer.from([0, 1]) },
    { "a.md": "one\n2\n", "gone.md": null, "old/page.md": null, "new/page.md": page, "ü.bin": Buffer.from([0, 2]) },
  );
  const patch = await patchOf(mirror, range);
  expect(patch).toContain("-two\n+2\n");
  expect(patch).toContain("deleted file mode 100644");
  expect(patch).toContain("rename from old/page.md\nrename to new/page.md\n");
  expect(patch).toContain("Binary files a/ü.bin and b/ü.bin differ");
});

test("past its bound whole files are left off", async () => {
  const after = Object.fromEntries(
    Array.from({ length: 20 }, (_, page) => [`${page}.md`, `${"new line\n".repeat(100)}`]),
  );
  const { mirror, range } = await compare({ "a.md": "x\n" }, after);
  const { patch, truncated } = await mirror.diff({ ...range, bytesMax: 5_000 }, bench.signal);
  expect(truncated).toBe(true);
  expect(patch.length).toBeLessThanOrEqual(5_000);
  expect(patch.toString().match(/^diff --git /gm)).toHaveLength(4);
  expect(patch.toString().endsWith("+new line\n")).toBe(true);
});

test("neither the repository's attributes nor a hostile configuration run or hide anything", async () => {
  const { mirror, gitDir, range } = await compare(
    { ".gitattributes": "*.md diff=evil filter=evil -diff\n", "a.md": "one\n" },
    { "a.md": "two\n" },
  );
  const canary = join(bench.dir, "canary");
  const script = join(bench.dir, "evil.sh");
  writeFileSync(script, `#!/bin/sh\ntouch ${canary}\necho evil\n`, { mode: 0o755 });
  appendFileSync(
    join(gitDir, "config"),
    `[diff]\n external = ${script}\n[diff "evil"]\n command = ${script}\n textconv = ${script}\n[core]\n pager = ${script}\n fsmonitor = ${script}\n[color]\n ui = always\n`,
  );
  expect(await patchOf(mirror, range)).toContain("-one\n+two\n");
  // Even attributes of the mirror itself do not start a driver.
  mkdirSync(join(gitDir, "info"), { recursive: true });
  writeFileSync(join(gitDir, "info", "attributes"), "*.md diff=evil\n");
  expect(await patchOf(mirror, range)).toContain("-one\n+two\n");
  expect(existsSync(canary)).toBe(false);
});

test("a missing commit is reported as missing", async () => {
  const { mirror, range } = await compare({ "a.md": "x\n" }, { "a.md": "y\n" });
  await expect(mirror.diff({ ...range, to: "4".repeat(40) }, bench.signal)).rejects.toMatchObject({
    code: "repository_unavailable",
  });
  await expect(mirror.diff({ ...range, to: "--output=/tmp/x" }, bench.signal)).rejects.toMatchObject({
    code: "internal",
  });
});
