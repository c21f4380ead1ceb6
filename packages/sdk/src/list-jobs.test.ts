import { afterEach, beforeEach, expect, test } from "vitest";
import { type ContractServer, newJob, startContractServer } from "../test/support/contract-server.ts";
import { Emend } from "./emend.ts";

let server: ContractServer;
beforeEach(async () => {
  server = await startContractServer();
  for (const id of ["job_1", "job_2", "job_3", "job_4", "job_5"]) server.jobs.set(id, newJob(id));
});
afterEach(() => server.stop());

function client() {
  return new Emend({ baseUrl: server.url, apiKey: "emend_test", outageMsMax: 100 }).jobs("docs");
}

test("goes through every page, newest first, and asks for no page before it is needed", async () => {
  const ids: string[] = [];
  for await (const job of client().list({ limit: 2 })) {
    ids.push(job.id);
    expect(server.seen).toHaveLength(Math.ceil(ids.length / 2));
  }
  expect(ids).toEqual(["job_5", "job_4", "job_3", "job_2", "job_1"]);
});

test("asks for one state alone, and hands out a cursor", async () => {
  server.update("job_2", { status: "failed" });
  server.update("job_4", { status: "failed" });
  const first = await client().listPage({ status: "failed", limit: 1 });
  expect(first.jobs.map(({ id }) => id)).toEqual(["job_4"]);
  const second = await client().listPage({ status: "failed", limit: 1, cursor: first.nextCursor ?? "" });
  expect(second).toMatchObject({ jobs: [{ id: "job_2" }], nextCursor: null });
});

test("a page that is not from Emend is reported", async () => {
  server.faults.push({ kind: "answer", status: 200, body: '{"jobs":[{"id":1}],"nextCursor":null}' });
  await expect(client().listPage()).rejects.toMatchObject({ kind: "invalid_response" });
});

test("an aborted signal ends the walk", async () => {
  const walking = new AbortController();
  const walk = client().list({ limit: 1, signal: walking.signal });
  await walk.next();
  walking.abort(new Error("enough"));
  await expect(walk.next()).rejects.toThrow("enough");
});
