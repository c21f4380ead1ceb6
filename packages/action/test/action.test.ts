import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { buildAction } from "../../../scripts/build-action.ts";
import { type Installation, startInstallation } from "../../cli/test/support/installation.ts";

const actionDir = join(import.meta.dirname, "..", "..", "..", "action");
const bundle = join(actionDir, "dist", "index.js");

let emend: Installation;
beforeAll(async () => {
  emend = await startInstallation();
});
afterAll(() => emend.stop());

interface Ended {
  code: number;
  stdout: string;
  outputs: string;
  summary: string;
}

let steps = 0;
/** Runs the bundle as the runner does: inputs and files in the environment, nothing installed beside it. */
async function runStep(inputs: Record<string, string>, env: Record<string, string> = {}): Promise<Ended> {
  steps += 1;
  const [outputFile, summaryFile] = [join(emend.dir, `output-${steps}`), join(emend.dir, `summary-${steps}`)];
  await Promise.all([writeFile(outputFile, ""), writeFile(summaryFile, "")]);
  const named = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const { code, stdout } = await run(process.execPath, [bundle], {
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

test("the bundle is what `npm run build:action` makes of its source", async () => {
  const file = join(emend.dir, "index.js");
  await buildAction(file);
  const [made, committed] = await Promise.all([readFile(file, "utf8"), readFile(bundle, "utf8")]);
  expect(made === committed, "run `npm run build:action` and commit action/dist").toBe(true);
  expect(committed.length).toBeLessThan(1_000_000);
  expect(committed).not.toMatch(/from "(?!node:)/);
  const manifest = parse(await readFile(join(actionDir, "action.yml"), "utf8"));
  expect(manifest.runs).toEqual({ using: "node24", main: "dist/index.js" });
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
  expect(refused).toMatchObject({ code: 1, outputs: "" });
  expect(refused.stdout).toContain("::error title=Emend::");
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
  const prompt = 'Replace "queue"\nwith "line".';
  const good = await run("sh", ["-c", script], { ...env, CI_JOB_ID: "1", EMEND_PROMPT: prompt });
  expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^job job_\w+ is completed http/) });
  expect(await readFile(join(emend.dir, "emend.env"), "utf8")).toMatch(
    /^EMEND_JOB_ID=job_\w+\nEMEND_PULL_REQUEST=http/,
  );
  const bad = await run("sh", ["-c", script], { ...env, CI_JOB_ID: "2", EMEND_PROMPT: "Rewrite everything." });
  expect(bad.code).toBe(1);
  const foreign = { ...env, EMEND_API_KEY: "emend_nothing", CI_JOB_ID: "3", EMEND_PROMPT: "Fix broken links." };
  expect(await run("sh", ["-c", script], foreign)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("A valid admin API key is required"),
  });
});
