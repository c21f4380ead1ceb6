import { deflateSync, gzipSync } from "node:zlib";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

let host: DashboardApi;
let projectId: string;
let forgeState: "open" | "merged" | null = null;

beforeAll(async () => {
  host = await startDashboard({
    pullRequestState: async () => forgeState,
    suggestions: async () => [{ prompt: "Fix broken links.", because: "3 broken links" }],
  });
  projectId = (await host.api.addProject()).id;
});
afterAll(() => host.close());

const newJob = () => seedJob(host.api.pool, projectId);

it("returns the request, so that it can be sent again", async () => {
  const body = { prompt: "Fix broken links.", baseRef: "next", draft: true, maxCostUsd: 0.5, preview: true };
  const { id } = (await host.send(`/projects/${projectId}/jobs`, { body })).json();
  expect((await host.send(`/jobs/${id}`)).json()).toMatchObject({
    options: { baseRef: "next", draft: true, maxCostUsd: 0.5, model: "emend/rules", preview: true },
    run: { preview: true },
    messages: [],
  });
});

it("200 sends a follow-up, which is shown with who sent it; 409 if its pull request is merged", async () => {
  const id = await newJob();
  const send = (prompt: unknown = "And the anchors.") => host.send(`/jobs/${id}/message`, { body: { prompt } });
  await alterJob(host.api.pool, id, "status = 'completed', ended_at = now()");
  expect((await send("")).statusCode).toBe(400);
  expect((await send()).statusCode).toBe(200);
  expect((await host.send(`/jobs/${id}`)).json()).toMatchObject({
    run: { status: "active", phase: "queued" },
    messages: [{ number: 1, prompt: "And the anchors.", createdBy: expect.stringMatching(/^user\//) }],
  });
  await alterJob(host.api.pool, id, `status = 'completed', pull_request = '{"number": 1, "state": "open"}'`);
  forgeState = "merged";
  const refused = await send();
  forgeState = null;
  expect([refused.statusCode, refused.json().error]).toEqual([409, expect.stringContaining("merged")]);
  expect((await host.send("/jobs/job_x/message", { body: { prompt: "x" } })).statusCode).toBe(404);
});

it("shows each round with its result, who cancelled it, and the remaining budget", async () => {
  const id = await newJob();
  const { pool } = host.api;
  const usage = { model: "m", inputTokens: 900, outputTokens: 100, costUsd: 0.25, durationMs: 2_000 };
  await pool.query("insert into steps (job_id, number, messages, usage) values ($1, 1, '[]', $2), ($1, 2, '[]', $2)", [
    id,
    usage,
  ]);
  await alterJob(pool, id, "status = 'completed', title = 'T', commit_id = 'c', summary = 'Fixed 3 links.'");
  const send = (action: string, body: object) => host.send(`/jobs/${id}/${action}`, { body });
  const read = async () => (await host.send(`/jobs/${id}`)).json();
  expect(await read()).toMatchObject({
    outcomes: [{ message: 0, kind: "changed", words: "Fixed 3 links." }],
    budget: {
      steps: { used: 2, max: 60 },
      tokens: { used: 2_000 },
      costUsd: { used: 0.5, max: 2 },
      ms: { used: 4_000 },
    },
    cancelledBy: null,
    isDiffSoFar: false,
  });
  await send("message", { prompt: "And the anchors." });
  await alterJob(pool, id, "working_diff = 'x'");
  expect(await read()).toMatchObject({ outcomes: [{ message: 0 }], budget: { steps: { used: 0 } }, isDiffSoFar: true });
  expect((await send("cancel", {})).statusCode).toBe(200);
  const cancelled = await read();
  expect(cancelled).toMatchObject({
    outcomes: [{ kind: "changed" }, { message: 1, kind: "failed" }],
    // The live change is deleted when its job ends.
    isDiffSoFar: false,
    cancelledBy: expect.stringMatching(/^user\//),
  });
});

it("gives a step's calls with their answers, shortened; 404 once they were dropped", async () => {
  const id = await newJob();
  const messages = [
    { role: "assistant", text: "Looking", toolCalls: [{ id: "c1", name: "search", input: { text: "token" } }] },
    { role: "tool", callId: "c1", name: "search", output: "x".repeat(30_000), isError: false },
  ];
  await host.api.pool.query("insert into steps (job_id, number, messages) values ($1, 1, $2)", [
    id,
    JSON.stringify(messages),
  ]);
  const step = (await host.send(`/jobs/${id}/steps/1`)).json();
  expect(step).toMatchObject({ text: "Looking", tools: [{ name: "search", isError: false }] });
  expect(step.tools[0].output).toMatch(/10000 more characters$/);
  await host.api.pool.query("update steps set messages = '[]' where job_id = $1", [id]);
  for (const number of ["1", "2", "0", "1e3", "%00"]) {
    expect((await host.send(`/jobs/${id}/steps/${number}`)).statusCode).toBe(404);
  }
});

it("returns a page after the change, and 404 for paths that the job did not write", async () => {
  const id = await newJob();
  await host.api.pool.query(
    "insert into overlay (job_id, path, mode, content) values ($1, 'guides/a b.md', '100644', $2)",
    [id, deflateSync("# Hello <script>")],
  );
  const read = (path: string) => host.send(`/jobs/${id}/file?path=${path}`);
  const shown = await read("guides%2Fa%20b.md");
  expect(shown.json()).toEqual({ text: "# Hello <script>" });
  expect(shown.headers["content-type"]).toMatch(/^application\/json/);
  for (const path of ["..%2Fetc%2Fpasswd", "%00", "", "a&path=b"]) expect((await read(path)).statusCode).toBe(404);
});

it("says how the rules read an instruction, and runs nothing", async () => {
  const read = async (body: object) => (await host.send(`/projects/${projectId}/reading`, { body })).json();
  expect(await read({ prompt: 'Replace "API token" with "access key" and fix broken links.' })).toEqual({
    kind: "understood",
    orders: ['replace "API token" with "access key"', "fix broken links"],
  });
  expect(await read({ prompt: "Make it shine" })).toMatchObject({ kind: "not_understood", clause: "Make it shine" });
  expect(await read({ prompt: "Make it shine", model: "openai/gpt" })).toEqual({ kind: "free" });
  const tooLong = await host.send(`/projects/${projectId}/reading`, { body: { prompt: "x".repeat(10_001) } });
  expect(tooLong.statusCode).toBe(400);
});

it("suggests what the checks found", async () => {
  const { suggestions } = (await host.send(`/projects/${projectId}/suggestions`)).json();
  expect(suggestions).toEqual([{ prompt: "Fix broken links.", because: "3 broken links" }]);
  expect((await host.send("/projects/prj_none/suggestions")).statusCode).toBe(404);
});

it("streams on after the event that an address names", async () => {
  const id = await newJob();
  await alterJob(host.api.pool, id, "status = 'failed', ended_at = now()");
  expect((await host.send(`/jobs/${id}/events?after=0`)).body).toContain("id: 1\n");
  expect((await host.send(`/jobs/${id}/events?after=1`)).statusCode).toBe(204);
  expect((await host.send(`/jobs/${id}/events?after=x`)).statusCode).toBe(400);
});

it("lists given jobs in their current state, archived ones too", async () => {
  const ids = [await newJob(), await newJob(), await newJob()];
  await alterJob(host.api.pool, ids[0] ?? "", "status = 'archived', archived_at = now()");
  const { jobs } = (await host.send(`/jobs?ids=${ids[0]},${ids[2]}`)).json();
  expect(jobs.map((job: { id: string }) => job.id)).toEqual([ids[2], ids[0]]);
  expect((await host.send("/jobs?ids=%00")).statusCode).toBe(400);
});

it("200 shows the pictures of a job's pages, as pictures and nothing else; 404 for others", async () => {
  const id = await newJob();
  const { pool } = host.api;
  const insert =
    "insert into page_pictures (job_id, path, width, side, height, marks, webp) values ($1, $2, 390, 'after', 800, $3, $4)";
  await pool.query(insert, [id, "docs/a b.md", "[[10, 20]]", Buffer.from("RIFF")]);
  const marks = [[10, 20]];
  expect((await host.send(`/jobs/${id}`)).json().pictures).toEqual([
    { path: "docs/a b.md", width: 390, side: "after", height: 800, marks, hasPage: false },
  ]);
  const picture = await host.send(`/jobs/${id}/picture?path=docs%2Fa%20b.md&side=after&width=390`);
  expect(picture.body).toBe("RIFF");
  expect(picture.headers).toMatchObject({
    "content-type": "image/webp",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
  });
  for (const query of ["path=docs%2Fa%20b.md&side=before&width=390", "path=x&side=after&width=390x", "side=after"]) {
    expect((await host.send(`/jobs/${id}/picture?${query}`)).statusCode).toBe(404);
  }
  expect((await host.send("/jobs/job_x/picture?path=a&side=after&width=390")).statusCode).toBe(404);
});

it("200 shows a page of a job as a document that does nothing; 404 for others", async () => {
  const id = await newJob();
  const insert =
    "insert into page_pictures (job_id, path, width, side, height, marks, webp, page) values ($1, 'a.md', 1280, $2, 9, '[]', 'RIFF', $3)";
  await host.api.pool.query(insert, [id, "after", gzipSync("<p>Hello</p>")]);
  await host.api.pool.query(insert, [id, "before", null]);
  const page = await host.send(`/jobs/${id}/page?path=a.md&side=after`);
  // It is sent as it is stored.
  expect(page.body).not.toContain("Hello");
  expect(page.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-encoding": "gzip",
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "referrer-policy": "no-referrer",
  });
  for (const directive of ["sandbox", "default-src 'none'", "frame-ancestors 'self'", "form-action 'none'"])
    expect(String(page.headers["content-security-policy"]).split("; ")).toContain(directive);
  for (const query of ["path=a.md&side=before", "path=b.md&side=after", "path=a.md&side=x", "side=after"])
    expect((await host.send(`/jobs/${id}/page?${query}`)).statusCode).toBe(404);
});
