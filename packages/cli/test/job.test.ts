// Costly: output, exit codes and signals are those of a process.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ContractServer, newJob, startContractServer } from "../../sdk/test/support/contract-server.ts";
import { runInProcess, startEmend } from "./support/run-emend.ts";

let server: ContractServer;
let env: Record<string, string>;
beforeEach(async () => {
  server = await startContractServer();
  env = { EMEND_URL: server.url, EMEND_API_KEY: "emend_test" };
});
afterEach(() => server.stop());

test("job create prints the id alone", async () => {
  const { code, stdout, stderr } = await runInProcess(["job", "create", "docs", "Fix broken links."], { env });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "job_1\n", stderr: "" });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ prompt: "Fix broken links." });
});

test("job create reads a long prompt from standard input", async () => {
  const prompt = 'Replace "a" with "b".\n\nThen fix broken links.\n';
  await runInProcess(["job", "create", "docs", "-", "--idempotency-key", "release-1"], { env, input: prompt });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ prompt });
  expect(server.seen[0]?.headers["idempotency-key"]).toBe("release-1");
});

test("job create --wait prints the pull request's link alone", async () => {
  const running = startEmend(["job", "create", "docs", "go", "--wait"], { env });
  await server.untilSeen(3);
  server.update("job_1", { status: "completed", prLink: "http://127.0.0.1/pull/7" });
  expect(await running.finished).toMatchObject({ code: 0, stdout: "http://127.0.0.1/pull/7\n" });
});

test("job create --wait --json prints the job's nine fields when it is over, and nothing else", async () => {
  const running = runInProcess(["job", "create", "docs", "go", "--wait", "--json"], { env });
  await server.untilSeen(3);
  server.update("job_1", { status: "completed" });
  const { code, stdout, stderr } = await running;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({ ...newJob("job_1"), status: "completed" });
});

test("job preview asks for a preview, waits, and prints its diff alone", async () => {
  const running = runInProcess(["job", "preview", "docs", "go"], { env });
  await server.untilSeen(3);
  server.update("job_1", { status: "completed" });
  const { code, stdout } = await running;
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ prompt: "go", preview: true });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^diff --git /);
});

test("job preview --json says which job it was and how it ended, also where it failed", async () => {
  const running = runInProcess(["job", "preview", "docs", "go", "--json"], { env });
  await server.untilSeen(3);
  server.update("job_1", { status: "failed" });
  const { code, stdout, stderr } = await running;
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    id: "job_1",
    status: "failed",
    diff: expect.stringContaining("diff --git"),
  });
  expect(stderr).toContain("(policy_denied)");
});

test.each([
  { args: ["- fix this\n- and that"], prompt: "- fix this\n- and that" },
  { args: ["--wait", "--- Title"], prompt: "--- Title" },
  { args: ["-Very well"], prompt: "-Very well" },
  { args: ["--", "--wait"], prompt: "--wait" },
  { args: ["-"], prompt: "- from standard input\n" },
])("job create takes $args for a prompt", async ({ args, prompt }) => {
  const running = runInProcess(["job", "create", "docs", ...args], { env, input: "- from standard input\n" });
  await server.untilSeen(1);
  server.update("job_1", { status: "completed" });
  expect((await running).code).toBe(0);
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ prompt });
});

test("an empty prompt on standard input is an error, and nothing is sent", async () => {
  const { code, stderr } = await runInProcess(["job", "create", "docs", "-"], { env });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("standard input") });
  expect(server.seen).toHaveLength(0);
});

test("a job that fails during --wait has its own exit code", async () => {
  const running = runInProcess(["job", "create", "docs", "go", "--wait"], { env });
  await server.untilSeen(3);
  server.update("job_1", { status: "failed" });
  const { code, stdout, stderr } = await running;
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain("job job_1 failed (policy_denied): ci.yml is not yours to write.");
});

test("the phase that a job failed in is marked, and the reason has its own lines", async () => {
  const running = runInProcess(["job", "create", "docs", "go", "--wait"], { env });
  await server.untilSeen(3);
  server.tell("job_1", "job.created");
  server.tell("job_1", "phase", { phase: "working" });
  server.tell("job_1", "failed");
  server.failure = { code: "instruction_not_understood", message: "Nothing was changed.\nThey know: fix broken links" };
  server.update("job_1", { status: "failed" });
  const { stderr } = await running;
  expect(stderr).toMatch(/ ✓ queued .*\n {2}✗ working .*\n/);
  expect(stderr).toMatch(
    /\nemend: job job_1 failed \(instruction_not_understood\):\n {2}Nothing was changed\.\n {2}They know: fix broken links\n$/,
  );
});

test("job create --wait shows the phases in a pipe as plain lines, beside the result", async () => {
  const running = startEmend(["job", "create", "docs", "go", "--wait"], { env });
  await server.untilSeen(3);
  server.tell("job_1", "job.created");
  server.tell("job_1", "phase", { phase: "working" });
  server.tell("job_1", "step", { tools: [{ name: "fix_links" }] });
  server.tell("job_1", "completed");
  server.update("job_1", { status: "completed", prLink: "http://127.0.0.1/pull/7" });
  const { stdout, stderr } = await running.finished;
  expect(stdout).toBe("http://127.0.0.1/pull/7\n");
  expect(stderr).toMatch(/✓ queued .*\n.*✓ working .*fix_links/);
  expect(stderr).not.toContain("\u001b");
});

test("waits for a job of a service that has no event stream", async () => {
  server.hasEvents = false;
  const running = runInProcess(["job", "create", "docs", "go", "--wait"], { env });
  await server.untilSeen(4);
  server.update("job_1", { status: "completed" });
  expect((await running).code).toBe(0);
});

test("job create hands on what the job may be told", async () => {
  const options = ["--base", "next", "--model", "a/b", "--draft", "--max-cost", "0.5"];
  await runInProcess(["job", "create", "docs", "go", ...options], { env });
  const body = JSON.parse(server.seen[0]?.body ?? "");
  expect(body).toEqual({ prompt: "go", baseRef: "next", model: "a/b", draft: true, maxCostUsd: 0.5 });
});

test("job list goes through the pages up to the limit", async () => {
  for (let n = 1; n <= 3; n += 1) server.jobs.set(`job_${n}`, newJob(`job_${n}`));
  const { stdout } = await runInProcess(["job", "list", "docs", "--limit", "2", "--json"], { env });
  expect(JSON.parse(stdout).map(({ id }: { id: string }) => id)).toEqual(["job_3", "job_2"]);
  const shown = await runInProcess(["job", "list", "docs", "--status", "failed"], { env });
  expect(shown).toMatchObject({ code: 0, stdout: "", stderr: "No jobs match.\n" });
});

test("job watch prints each event as JSON, and fails with the job", async () => {
  server.jobs.set("job_1", { ...newJob("job_1"), status: "failed" });
  server.tell("job_1", "job.created");
  server.tell("job_1", "failed");
  const { code, stdout } = await runInProcess(["job", "watch", "docs", "job_1", "--json"], { env });
  expect(code).toBe(3);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).kind),
  ).toEqual(["job.created", "failed"]);
  const plain = await runInProcess(["job", "watch", "docs", "job_1"], { env });
  expect(plain.stdout).toMatch(/✗ queued .*\nfailed\n/);
});

test("job diff prints what git apply reads, its figures, or JSON", async () => {
  server.jobs.set("job_1", newJob("job_1"));
  const { stdout } = await runInProcess(["job", "diff", "docs", "job_1"], { env });
  expect(stdout).toMatch(/^diff --git [\s\S]*\n\+Log in\n$/);
  const stat = await runInProcess(["job", "diff", "docs", "job_1", "--stat"], { env });
  expect(stat.stdout).toMatch(/index\.md +modified +\+1 +−1/);
});

test("job run says why a job failed", async () => {
  server.jobs.set("job_1", { ...newJob("job_1"), status: "failed" });
  const { code, stdout } = await runInProcess(["job", "run", "docs", "job_1"], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^failure +policy_denied$/m);
  expect(stdout).toContain("ci.yml is not yours to write.");
});

test("job message follows up on a finished job and tells only what is new; job cancel stops it", async () => {
  server.jobs.set("job_1", { ...newJob("job_1"), status: "completed" });
  server.tell("job_1", "phase", { phase: "preparing" });
  server.tell("job_1", "completed");
  const running = runInProcess(["job", "message", "docs", "job_1", "-", "--wait"], { env, input: "More." });
  await server.untilSeen(5);
  server.tell("job_1", "phase", { phase: "working" });
  const cancelled = await runInProcess(["job", "cancel", "docs", "job_1", "--json"], { env });
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ status: "failed" });
  const { code, stderr } = await running;
  expect(code).toBe(3);
  expect(stderr).not.toContain("preparing");
});

test("an interrupt ends the waiting and says that the job continues", async () => {
  const running = startEmend(["job", "create", "docs", "go", "--wait"], { env });
  await server.untilSeen(3);
  running.kill("SIGINT");
  const { code, stderr } = await running.finished;
  expect(code).toBe(130);
  expect(stderr).toContain("emend job get docs job_1");
});

test("job get shows a failed job without failing itself", async () => {
  server.jobs.set("job_1", { ...newJob("job_1"), status: "failed", model: "evil\u001b[2Jmodel" });
  const { code, stdout } = await runInProcess(["job", "get", "docs", "job_1"], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^status +failed$/m);
  expect(stdout).not.toContain("\u001b");
});

test("job archive prints the archived job", async () => {
  server.jobs.set("job_1", newJob("job_1"));
  const { code, stdout } = await runInProcess(["job", "archive", "docs", "job_1", "--json"], { env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: "job_1", status: "archived" });
});

test.each([401, 403, 404, 429])("a refusal with %d ends with exit code 4 and the service's words", async (status) => {
  const headers = { "retry-after": "1800" };
  server.faults.push({ kind: "answer", status, headers, body: '{"error":"The service says no."}' });
  const { code, stdout, stderr } = await runInProcess(["job", "create", "docs", "go"], { env });
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(stderr).toContain("The service says no.");
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("a page that is not Emend's is a fault, told without a stack unless asked for", async () => {
  const page = { kind: "answer", status: 200, body: "<html>" } as const;
  server.faults.push(page, page);
  const plain = await runInProcess(["job", "get", "docs", "job_1"], { env });
  expect(plain.code).toBe(1);
  expect(plain.stderr).not.toContain("    at ");
  const debug = await runInProcess(["job", "get", "docs", "job_1"], { env: { ...env, EMEND_DEBUG: "1" } });
  expect(debug.stderr).toContain("    at ");
});

test("a bad EMEND_URL is named as such", async () => {
  const { code, stderr } = await runInProcess(["job", "get", "docs", "j"], { env: { ...env, EMEND_URL: "localhost" } });
  expect(code).toBe(2);
  expect(stderr).toContain("EMEND_URL=localhost is not a URL");
});

test("a project is called by its name, by EMEND_PROJECT, or not at all where the key covers one", async () => {
  for (const [words, more] of [
    [["Docs", "x"], {}],
    [["x"], { EMEND_PROJECT: "Docs" }],
    [["x"], {}],
  ] as const) {
    expect(await runInProcess(["job", "create", ...words], { env: { ...env, ...more } })).toMatchObject({ code: 0 });
  }
  expect(new Set(server.seen.map(({ path }) => path))).toEqual(new Set(["/v2/agent/docs/job"]));

  server.projects.push({ id: "prj_2", name: "Docs", repository: "http://127.0.0.1/2.git", baseRef: null });
  const several = await runInProcess(["job", "create", "x"], { env });
  expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining("docs (Docs), prj_2 (Docs)") });
  const lone = await runInProcess(["job", "get", "prj_2"], { env });
  expect(lone).toMatchObject({ code: 2, stderr: expect.stringContaining("missing required argument 'id'") });
});

test("job list shows the title of each job", async () => {
  server.jobs.set("job_1", newJob("job_1"));
  const { stdout } = await runInProcess(["job", "list"], { env });
  expect(stdout).toMatch(/^ID +STATUS +CREATED +TITLE +PULL REQUEST\njob_1 +active .* Fix links/);
});
