// Costly: the bundle that GitHub runs is one file, and only running it shows that it holds all that it needs.
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { buildAction } from "../../../scripts/build-action.ts";
import { type Installation, startInstallation } from "../../cli/test/support/installation.ts";
import { writeProgram } from "../../cli/test/support/run-emend.ts";

const actionDir = join(import.meta.dirname, "..", "..", "..", "action");

let emend: Installation;
let bundle: string;
beforeAll(async () => {
  emend = await startInstallation();
  bundle = join(emend.dir, "dist", "index.js");
  await buildAction(dirname(bundle));
  await writeFile(join(emend.dir, "package.json"), await readFile(join(actionDir, "package.json")));
});
afterAll(() => emend.stop());

interface Ended {
  code: number;
  stdout: string;
  outputs: string;
  summary: string;
}

let steps = 0;
/** Runs the bundle as the runner does: inputs and files in the environment, no packages installed. */
async function runStep(
  inputs: Record<string, string>,
  env: Record<string, string> = {},
  program = bundle,
): Promise<Ended> {
  steps += 1;
  const [outputFile, summaryFile] = [join(emend.dir, `output-${steps}`), join(emend.dir, `summary-${steps}`)];
  await Promise.all([writeFile(outputFile, ""), writeFile(summaryFile, "")]);
  const named = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const { code, stdout } = await run(process.execPath, [program], {
    GITHUB_OUTPUT: outputFile,
    GITHUB_STEP_SUMMARY: summaryFile,
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_RUN_ID: String(steps),
    ...Object.fromEntries(named),
    ...env,
  });
  return {
    code,
    stdout,
    outputs: await readFile(outputFile, "utf8"),
    summary: await readFile(summaryFile, "utf8"),
  };
}

async function run(program: string, args: string[], env: Record<string, string>) {
  const options = { cwd: emend.dir, env: { PATH: process.env.PATH ?? "", ...env } };
  return promisify(execFile)(program, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error) => ({ code: Number(error.code), stdout: String(error.stdout), stderr: String(error.stderr) }),
  );
}

function access() {
  return { url: emend.url, "api-key": emend.key, project: emend.project };
}

test("the program is what `npm run build:action` makes of its source", async () => {
  const committed = await readFile(join(actionDir, "dist", "index.js"), "utf8");
  const isSame = (await readFile(bundle, "utf8")) === committed;
  expect(isSame, "run `npm run build:action` and commit action/dist").toBe(true);
  // The checks are rebuilt before a release, not after each change of the site package.
  for (const name of await readdir(join(emend.dir, "dist"), { recursive: true })) {
    if (!name.endsWith(".js")) continue;
    const text = await readFile(join(emend.dir, "dist", name), "utf8");
    expect(text.length).toBeLessThan(1_000_000);
    expect(text).not.toMatch(/^import\b[^;]*?from ?"(?!node:|\.\/)/m);
  }
  const manifest = parse(await readFile(join(actionDir, "action.yml"), "utf8"));
  expect(manifest.runs).toEqual({ using: "node24", main: "dist/index.js" });
});

/** A clone of a repository whose main branch has one broken link, and a function that runs git in it. */
async function makeCheckout(name: string): Promise<{ dir: string; git: (...args: string[]) => Promise<string> }> {
  const [origin, dir] = [join(emend.dir, `${name}-origin`), join(emend.dir, name)];
  const git = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)("git", ["-c", "user.name=T", "-c", "user.email=t@t", ...args]);
    return stdout.trim();
  };
  await mkdir(join(origin, "docs"), { recursive: true });
  await writeFile(join(origin, "docs", "old.md"), "# Old\n\n[gone](gone.md)\n");
  await writeFile(join(origin, "docs", "target.md"), "# Target\n");
  // Enough pages that threads parse them.
  for (let n = 0; n < 160; n++) await writeFile(join(origin, "docs", `page-${n}.mdx`), "[t](target.md)\n");
  await git("-C", origin, "init", "-q", "-b", "main");
  await git("-C", origin, "add", ".");
  await git("-C", origin, "commit", "-qm", "first");
  await git("-C", origin, "checkout", "-qb", "change");
  await writeFile(join(origin, "docs", "new.mdx"), "# New\n\n[a|b](nowhere.md)\n\n<Card>\n");
  await git("-C", origin, "add", ".");
  await git("-C", origin, "commit", "-qm", "second");
  // Like actions/checkout: one commit of one branch.
  await git("clone", "-q", "--depth=1", "--branch=change", pathToFileURL(origin).href, dir);
  return { dir, git: (...args) => git("-C", dir, ...args) };
}

test("checks a checkout without any service, annotates lines and fails on errors", async () => {
  const { dir } = await makeCheckout("whole");
  const { code, stdout, outputs, summary } = await runStep({ mode: "check", path: "docs" }, { GITHUB_WORKSPACE: dir });
  expect(stdout).toMatch(/^::error file=docs\/new\.mdx,line=3,col=7,title=broken-link::/m);
  expect(stdout).toMatch(/^::error file=docs\/new\.mdx,line=5,col=1,title=mdx-syntax::/m);
  expect(stdout).toMatch(/^::error file=docs\/old\.md,line=3/m);
  expect(stdout).toContain("3 errors, 0 warnings · 163 pages (markdown)");
  expect(outputs).toMatch(/^errors<<(.+)\n3\n\1\nwarnings<<(.+)\n0\n\2\nnew<<(.+)\n\n\3\n/m);
  expect(summary).toContain(
    "| error | `new.mdx:3` | `nowhere.md` links to a missing page; correct or remove the link. | broken-link |",
  );
  expect(code).toBe(1);
  // The committed bundle may be older than the site's source, and must run anyway.
  const committed = join(actionDir, "dist", "index.js");
  const older = await runStep({ mode: "check", path: "docs" }, { GITHUB_WORKSPACE: dir }, committed);
  expect(older).toMatchObject({ code: 1, stdout: expect.stringContaining("::error file=docs/new.mdx,line=3") });
});

test("fails only on what is new since the base, which it fetches", async () => {
  const { dir, git } = await makeCheckout("compared");
  const env = { GITHUB_WORKSPACE: dir, GITHUB_BASE_REF: "main" };
  const inputs = { mode: "check", path: "docs", "only-new": "true" };
  await expect(git("rev-parse", "--verify", "origin/main")).rejects.toThrow();
  const changed = await runStep(inputs, env);
  expect(changed.stdout).not.toContain("old.md");
  expect(changed.stdout).toContain("2 new errors, 0 new warnings");
  expect(changed.outputs).toMatch(/^findings<<(.+)\n3\n\1\n[\s\S]*^new<<(.+)\n2\n\2\n/m);
  expect(changed.code).toBe(1);
  await rm(join(dir, "docs", "new.mdx"));
  expect(await runStep(inputs, env)).toMatchObject({ code: 0, stdout: expect.stringContaining("0 new errors") });
  // Code beside the docs: a page that names what the change renamed fails, though the page itself is old.
  const parser = 'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--watch")\n';
  const flag = (name: string) =>
    writeFile(join(dir, "cli.py"), `${parser}parser.add_argument("${name}", help="where to write")\n`);
  for (const name of ["--out-file", "--output"]) {
    await flag(name);
    await writeFile(join(dir, "docs", "run.md"), "# Run\n\nUse `--out-file`.\n");
    await git("add", ".");
    await git("commit", "-qm", name);
  }
  const drifted = await runStep({ ...inputs, source: ".@HEAD~1..HEAD" }, env);
  expect(drifted.stdout).toMatch(/^::error file=docs\/run\.md,line=3,col=\d+,title=stale-reference::.*--output/m);
  expect(drifted.code).toBe(1);
  const lost = await runStep(inputs, { ...env, GITHUB_BASE_REF: "nosuch" });
  expect(lost).toMatchObject({ code: 1, stdout: expect.stringContaining("set fetch-depth: 0") });
  const odd = await runStep({ ...inputs, "base-ref": "--upload-pack=x" }, env);
  expect(odd).toMatchObject({ code: 1, stdout: expect.stringContaining('"base-ref" cannot be') });
  const none = await runStep(inputs, { GITHUB_WORKSPACE: dir });
  expect(none).toMatchObject({ code: 1, stdout: expect.stringContaining('set the input "base-ref"') });
  const wrong = await runStep({ mode: "chek" });
  expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('"mode" must be job or check') });
});

test("the GitLab template checks a merge request and leaves a code quality report", async () => {
  const { dir } = await makeCheckout("gitlab");
  const template = parse(await readFile(join(actionDir, "gitlab-ci.yml"), "utf8"));
  const [script] = template[".emend-check"].script;
  const bin = join(emend.dir, "bin");
  await writeProgram(bin);
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    EMEND_CHECK_DIR: "docs",
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
    XDG_CACHE_HOME: bin,
  };
  const ended = await promisify(execFile)("sh", ["-c", script], { cwd: dir, env }).catch((error) => error);
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining("nowhere.md") });
  const report = JSON.parse(await readFile(join(dir, "gl-code-quality-report.json"), "utf8"));
  expect(report.map(({ location }: { location: unknown }) => location)).toEqual([
    { path: "docs/new.mdx", lines: { begin: 3 } },
    { path: "docs/new.mdx", lines: { begin: 5 } },
  ]);
  expect(template[".emend-check"].artifacts.reports).toEqual({ codequality: "gl-code-quality-report.json" });
});

test("creates a job, waits, and leaves the link in the outputs and the summary", async () => {
  const ended = await runStep({ ...access(), prompt: "Fix broken links." });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain(`::add-mask::${emend.key}`);
  expect(ended.outputs).toMatch(/^job-id<<(.+)\njob_\w+\n\1\n/);
  expect(ended.outputs).toMatch(/^pull-request<<(.+)\nhttp:.*\/pull\/1\n\1\n/m);
  expect(ended.summary).toMatch(/> Fix broken links\.\n\n\[Open the pull request\]\(http:/);
});

test("fails with the job, and says why", async () => {
  const { code, stdout, outputs } = await runStep({ ...access(), prompt: "Rewrite\neverything." });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^::error title=Emend::job job_\w+ failed \(instruction_not_understood\): /m);
  expect(outputs).toContain("\nfailed\n");
});

test("a step that runs again in the same attempt makes no second job", async () => {
  const inputs = { ...access(), prompt: "Fix broken links.", wait: "false" };
  const first = await runStep(inputs, { GITHUB_RUN_ID: "77" });
  const second = await runStep(inputs, { GITHUB_RUN_ID: "77" });
  const ids = [first, second].map(({ outputs }) => /job_\w+/.exec(outputs)?.[0]);
  expect(ids[0]).toBe(ids[1]);
});

test("names every input that is missing or wrong, and a key that is refused", async () => {
  const wrong = await runStep({ url: emend.url, draft: "maybe" });
  expect(wrong.code).toBe(1);
  for (const name of ["api-key", "project", "prompt", "draft"]) expect(wrong.stdout).toContain(`"${name}"`);
  const refused = await runStep({ ...access(), "api-key": "emend_nothing", prompt: "go" });
  expect(refused.code).toBe(1);
  expect(refused.outputs).toMatch(/^job-id<<(.+)\n\n\1\nstatus<<(.+)\nnot-created\n\2\npull-request<<(.+)\n\n\3\n$/);
  expect(refused.summary).toContain("No pull request; the job is **not created**.");
  expect(refused.stdout).toContain("::error title=Emend::");
});

test("legs of a matrix make a job each, and a repeated step makes none; a job that is not over sets every output", async () => {
  const run = { GITHUB_RUN_ID: "matrix", GITHUB_RUN_ATTEMPT: "1", GITHUB_JOB: "docs", GITHUB_ACTION: "emend" };
  const legs = [
    { prompt: 'Replace "nowhere one" with "x".', env: { ...run, RUNNER_NAME: "a" } },
    { prompt: 'Replace "nowhere two" with "x".', env: { ...run, RUNNER_NAME: "a" } },
    { prompt: 'Replace "nowhere two" with "x".', env: { ...run, RUNNER_NAME: "b" } },
    { prompt: 'Replace "nowhere two" with "x".', env: { ...run, RUNNER_NAME: "b" } },
  ];
  const ids: (string | undefined)[] = [];
  for (const { prompt, env } of legs) {
    const ended = await runStep({ ...access(), prompt, wait: "false" }, env);
    expect(ended.code).toBe(0);
    ids.push(/job_\w+/.exec(ended.outputs)?.[0]);
  }
  expect(new Set(ids.slice(0, 3)).size).toBe(3);
  expect(ids[3]).toBe(ids[2]);
  const input = { ...access(), prompt: "Fix broken links.", "timeout-minutes": "0.000001" };
  const late = await runStep(input, { GITHUB_RUN_ID: "late" });
  expect(late.outputs).toMatch(/^job-id<<(.+)\njob_\w+\n\1\nstatus<<(.+)\n\w+\n\2\npull-request<</);
  expect(late.summary).toContain("> Fix broken links.");
});

test("the GitLab template's script does the same with sh and curl", async () => {
  const template = parse(await readFile(join(actionDir, "gitlab-ci.yml"), "utf8"));
  const [script] = template[".emend"].script;
  const env = {
    EMEND_URL: `${emend.url}/`,
    EMEND_PROJECT: emend.project,
    EMEND_API_KEY: emend.key,
    EMEND_TIMEOUT_SECONDS: "60",
    CI_PROJECT_ID: "1",
  };
  const prompt = 'Replace "queue"\r\nwith "line".';
  const good = await run("sh", ["-c", script], { ...env, CI_JOB_ID: "1", EMEND_PROMPT: prompt });
  expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^job job_\w+ is completed http/) });
  expect(await readFile(join(emend.dir, "emend.env"), "utf8")).toMatch(
    /^EMEND_JOB_ID=job_\w+\nEMEND_PULL_REQUEST=http/,
  );
  const bad = await run("sh", ["-c", script], { ...env, CI_JOB_ID: "2", EMEND_PROMPT: "Rewrite everything." });
  expect(bad).toMatchObject({ code: 1, stderr: expect.stringMatching(/^why: instruction_not_understood: /m) });
  const foreign = { ...env, EMEND_API_KEY: "emend_nothing", CI_JOB_ID: "3", EMEND_PROMPT: "Fix broken links." };
  expect(await run("sh", ["-c", script], foreign)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("A valid admin API key is required"),
  });
});
