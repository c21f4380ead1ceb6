import { afterEach, beforeEach, expect, test } from "vitest";
import { type ContractServer, newJob, startContractServer } from "../test/support/contract-server.ts";
import { Emend } from "./emend.ts";

let server: ContractServer;
beforeEach(async () => {
  server = await startContractServer();
  server.jobs.set("job_1", newJob("job_1"));
});
afterEach(() => server.stop());

function client() {
  return new Emend({ baseUrl: server.url, apiKey: "emend_test" }).jobs("docs");
}

test("create(…).wait() resolves with the job as it ends", async () => {
  const started = client().create({ prompt: "go" });
  const ended = started.wait();
  expect((await started).status).toBe("active");
  server.update("job_2", { status: "completed", prLink: "https://forge.test/pull/1" });
  expect(await ended).toMatchObject({ id: "job_2", status: "completed", prLink: "https://forge.test/pull/1" });
});

test("create(…).wait() is refused once where create is", async () => {
  server.faults.push({ kind: "answer", status: 403, body: '{"error":"read-only"}' });
  await expect(client().create({ prompt: "go" }).wait()).rejects.toMatchObject({ kind: "forbidden" });
});

test("reads the run and the diff", async () => {
  server.update("job_1", { status: "failed" });
  expect((await client().run("job_1")).failure?.code).toBe("policy_denied");
  const { diff, files } = await client().diff("job_1");
  expect(diff).toContain("+Log in");
  expect(files).toEqual([{ path: "index.md", change: "modified", additions: 1, deletions: 1 }]);
});

test("cancels, and tries again when the answer was lost", async () => {
  server.faults.push({ kind: "reset-after-work" });
  expect(await client().cancel("job_1")).toMatchObject({ status: "failed" });
  expect(server.seen).toHaveLength(2);
});

test("approves a change, once or from now on, and declines it", async () => {
  expect(await client().approve("job_1")).toMatchObject({ status: "active", model: "remember false" });
  expect(await client().approve("job_1", { remember: true })).toMatchObject({ model: "remember true" });
  expect(await client().decline("job_1")).toMatchObject({ status: "failed" });
});

test("sends a follow-up, and waits for it", async () => {
  server.update("job_1", { status: "completed" });
  const started = client().message("job_1", { prompt: "also the guides" });
  expect(await started).toMatchObject({ status: "active", model: "also the guides" });
  const ended = started.wait();
  server.update("job_1", { status: "completed" });
  expect(await ended).toMatchObject({ status: "completed" });
});

test("repeats a follow-up whose answer was lost with one key, so that it is one", async () => {
  server.update("job_1", { status: "completed" });
  server.faults.push({ kind: "reset-after-work" }, { kind: "answer", status: 503, body: '{"error":"away"}' });
  expect(await client().message("job_1", { prompt: "once" })).toMatchObject({ status: "active", model: "once" });
  expect(server.seen).toHaveLength(3);
  expect(new Set(server.seen.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);

  server.update("job_1", { status: "completed" });
  await client().message("job_1", { prompt: "again" }, { idempotencyKey: "mine" });
  expect(server.seen[3]?.headers["idempotency-key"]).toBe("mine");
});
