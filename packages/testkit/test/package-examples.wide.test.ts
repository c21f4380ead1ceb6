import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { startFarEnd } from "../src/forges/far-end.ts";
import { giteaVendor } from "../src/forges/gitea.ts";
import { makeRepository } from "../src/make-repository.ts";

const packages = join(import.meta.dirname, "../..");
const dir = mkdtempSync(join(tmpdir(), "emend-examples-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function runExample(name: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const script = join(packages, name, "example.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], {
    env: { ...process.env, ...env },
  });
  return stdout;
}

function docsRepository(name: string) {
  const repository = makeRepository(join(dir, `${name}.git`));
  repository.commit({ "README.md": "# Cats\n\nA cat sleeps.\n" });
  return repository;
}

test.each(["agent", "forges", "publish", "review", "tree"])("the README of %s shows its example as it is", (name) => {
  const [, code = ""] = readFileSync(join(packages, name, "example.ts"), "utf8").split(/^(?:\/\/.*\n)+/);
  expect(readFileSync(join(packages, name, "README.md"), "utf8")).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
});

test("tree: an edit is proposed on a branch without a work tree", async () => {
  const repository = docsRepository("tree");
  expect(await runExample("tree", [repository.url])).toMatch(/\+Edited without a work tree\.[\s\S]*kind: 'pushed'/);
  expect(repository.git("show", "example:README.md")).toContain("A cat sleeps.\n\nEdited without a work tree.");
});

test("agent: an instruction becomes a diff in a script", async () => {
  const { url } = docsRepository("agent");
  const answer = await runExample("agent", [url, 'Replace "cat" with "dog".']);
  expect(answer).toMatch(/^finished: [\s\S]*-A cat sleeps\.\n\+A dog sleeps\./);
});

test("review: an active line is refused with its place, and text passes", async () => {
  const { url } = docsRepository("review");
  expect(await runExample("review", [url, "<b onclick=alert(1)>"])).toMatch(/'denied'[\s\S]*line 5 has "<b onclick/);
  expect(await runExample("review", [url, "A dog barks."])).toContain("kind: 'passed'");
});

test("publish: two runs make one commit and one pull request", async () => {
  const far = await startFarEnd(giteaVendor);
  try {
    const run = () => runExample("publish", [far.repositoryUrl], { GITEA_TOKEN: far.token });
    expect([await run(), await run()].map((line) => line.split(" ")[0])).toEqual(["opened", "found"]);
    expect(far.pullsOf("emend/example")).toHaveLength(1);
    expect(far.violations).toEqual([]);
  } finally {
    await far.close();
  }
});

test("forges: a pull request is opened once", async () => {
  const far = await startFarEnd(giteaVendor);
  try {
    far.makeBranch("example");
    const run = () => runExample("forges", [far.repositoryUrl, "example"], { GITEA_TOKEN: far.token });
    expect([await run(), await run()].map((line) => line.split(" ")[0])).toEqual(["created", "exists"]);
    expect(far.pullsOf("example")).toHaveLength(1);
    expect(far.violations).toEqual([]);
  } finally {
    await far.close();
  }
});
