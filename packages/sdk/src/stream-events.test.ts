import { afterEach, beforeEach, expect, test } from "vitest";
import { type ContractServer, newJob, startContractServer } from "../test/support/contract-server.ts";
import { Emend } from "./emend.ts";

let server: ContractServer;
beforeEach(async () => {
  server = await startContractServer();
  server.jobs.set("job_1", newJob("job_1"));
  server.tell("job_1", "job.created");
  server.tell("job_1", "phase", { phase: "preparing" });
  server.tell("job_1", "step", { text: "über\u2028 lines" });
});
afterEach(() => server.stop());

function client() {
  return new Emend({ baseUrl: server.url, apiKey: "emend_test" }).jobs("docs");
}

function end() {
  server.update("job_1", { status: "completed" });
  server.tell("job_1", "completed");
}

test("yields what happened and what happens, each once, and ends with the job", async () => {
  const kinds: string[] = [];
  for await (const event of client().events("job_1")) {
    kinds.push(`${event.seq} ${event.kind}`);
    if (event.seq === 3) end();
  }
  expect(kinds).toEqual(["1 job.created", "2 phase", "3 step", "4 completed"]);
});

test("continues after the last event when the connection is lost repeatedly", async () => {
  end();
  server.faults.push({ kind: "cut", afterEvents: 1 }, { kind: "reset" }, { kind: "cut", afterEvents: 2 });
  const seen: number[] = [];
  for await (const { seq } of client().events("job_1")) seen.push(seq);

  expect(seen).toEqual([1, 2, 3, 4]);
  expect(server.seen.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "1", "1", "3", "4"]);
});

test("continues after a final event when a follow-up restarted the job", async () => {
  end();
  server.update("job_1", { status: "active" });
  server.tell("job_1", "run.started");
  const seen: string[] = [];
  for await (const { kind } of client().events("job_1", { after: 3 })) {
    seen.push(kind);
    if (kind === "run.started") end();
  }
  expect(seen).toEqual(["completed", "run.started", "completed"]);
});

test("closes the connection when the reader stops early", async () => {
  for await (const { seq } of client().events("job_1")) if (seq === 2) break;
  await expect(client().get("job_1")).resolves.toMatchObject({ id: "job_1" });
});

test("an abort ends it with the signal's reason", async () => {
  const watching = new AbortController();
  const events = client().events("job_1", { after: 3, signal: watching.signal });
  const next = events.next();
  await server.untilSeen(1);
  watching.abort(new Error("enough"));
  await expect(next).rejects.toThrow("enough");
});

test("a refusal is thrown at once, and a page that is not a stream is reported", async () => {
  await expect(client().events("job_9").next()).rejects.toMatchObject({ kind: "not_found" });
  server.faults.push({ kind: "answer", status: 200, body: "<html>" });
  await expect(client().events("job_1").next()).rejects.toMatchObject({ kind: "invalid_response" });
  expect(server.seen).toHaveLength(2);
});
