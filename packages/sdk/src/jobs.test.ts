import type { AgentJob } from "@emend/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ContractServer, newJob, startContractServer } from "../test/support/contract-server.ts";
import { Emend } from "./emend.ts";

let server: ContractServer;
beforeEach(async () => {
  server = await startContractServer();
  server.jobs.set("job_1", newJob("job_1"));
});
afterEach(() => server.stop());

function jobs() {
  return new Emend({ baseUrl: server.url, apiKey: "emend_test" }).jobs("docs");
}

test.each(["completed", "archived", "failed"] as const)(
  "returns a job that is %s after one request",
  async (status) => {
    server.update("job_1", { status });
    expect(await jobs().wait("job_1")).toMatchObject({ status });
    expect(server.seen).toHaveLength(1);
  },
);

test("long-polls with the last ETag until the job ends, and tells each change once", async () => {
  const updates: AgentJob[] = [];
  const waiting = jobs().wait("job_1", { onUpdate: (job) => updates.push(job) });

  await server.untilSeen(2);
  expect(server.seen[1]?.headers.prefer).toBe("wait=50");
  expect(server.seen[1]?.headers["if-none-match"]).toMatch(/^".+"$/);
  server.update("job_1", { model: "emend/rules-2" });
  await server.untilSeen(3);
  server.update("job_1", { status: "completed", prLink: "http://127.0.0.1/pull/1" });

  expect(await waiting).toMatchObject({ status: "completed", prLink: "http://127.0.0.1/pull/1" });
  expect(updates.map((job) => [job.status, job.model])).toEqual([
    ["active", "emend/rules"],
    ["active", "emend/rules-2"],
    ["completed", "emend/rules-2"],
  ]);
  expect(server.seen).toHaveLength(3);
});

test("polls more slowly if the service does not hold the response", async () => {
  server.holds = false;
  const updates: AgentJob[] = [];
  const enough = new AbortController();

  const waiting = jobs().wait("job_1", { signal: enough.signal, onUpdate: (job) => updates.push(job) });
  setTimeout(() => enough.abort(new Error("enough")), 1200);

  await expect(waiting).rejects.toThrow("enough");
  // Requests at 0, 0 and 0.5 s. The next one would be at 1.5 s.
  expect(server.seen.length).toBeLessThanOrEqual(3);
  expect(updates).toHaveLength(1);
});

test("asks no sooner than the service's hint when answers are not held back", async () => {
  const body = JSON.stringify(newJob("job_1"));
  const hinted = { kind: "answer", status: 200, headers: { "retry-after": "30" }, body } as const;
  server.faults.push(hinted, hinted, hinted);
  const enough = new AbortController();

  const waiting = jobs().wait("job_1", { signal: enough.signal });
  await server.untilSeen(2);
  setTimeout(() => enough.abort(new Error("enough")), 800);

  await expect(waiting).rejects.toThrow("enough");
  expect(server.seen).toHaveLength(2);
});

test("keeps waiting through resets and a short outage", async () => {
  const away = { kind: "answer", status: 503, body: '{"error":"The database is away."}' } as const;
  server.faults.push({ kind: "reset" }, away, away, { kind: "reset" });
  const waiting = jobs().wait("job_1");

  await server.untilSeen(6);
  server.update("job_1", { status: "completed" });

  expect(await waiting).toMatchObject({ status: "completed" });
});

test("passes a job that is unknown on as an error, at once", async () => {
  await expect(jobs().wait("job_9")).rejects.toMatchObject({ kind: "not_found", code: "not_found" });
  expect(server.seen).toHaveLength(1);
});

test("stops when the signal aborts during a long poll", async () => {
  const enough = new AbortController();
  const waiting = jobs().wait("job_1", { signal: enough.signal });
  await server.untilSeen(2);
  enough.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("sends nothing when the signal is aborted already", async () => {
  await expect(jobs().wait("job_1", { signal: AbortSignal.abort(new Error("never")) })).rejects.toThrow("never");
  expect(server.seen).toEqual([]);
});

test("leaves no listener on a signal that lives on", async () => {
  const signal = new AbortController().signal;
  const added = vi.spyOn(signal, "addEventListener");
  const removed = vi.spyOn(signal, "removeEventListener");
  server.faults.push({ kind: "answer", status: 503, body: "{}" });
  server.update("job_1", { status: "completed" });

  await jobs().wait("job_1", { signal });

  expect(added.mock.calls.length).toBeGreaterThan(0);
  expect(removed.mock.calls.length).toBe(added.mock.calls.length);
});
