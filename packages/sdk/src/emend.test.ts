import { readFile } from "node:fs/promises";
import { CreateJobBody } from "@emend/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ContractServer, newJob, startContractServer } from "../test/support/contract-server.ts";
import { Emend } from "./emend.ts";

let server: ContractServer;
beforeEach(async () => {
  server = await startContractServer("/docs/emend");
  server.jobs.set("job_1", newJob("job_1"));
});
afterEach(() => server.stop());

test("keeps the base path, with and without slashes at its end", async () => {
  for (const slashes of ["", "/", "//"]) {
    const emend = new Emend({ baseUrl: server.url + slashes, apiKey: "emend_test\n" });
    expect(await emend.jobs("docs").get("job_1")).toEqual(newJob("job_1"));
  }
  expect(new Set(server.seen.map((request) => request.path))).toEqual(new Set(["/docs/emend/v2/agent/docs/job/job_1"]));
  expect(server.seen[0]?.headers.authorization).toBe("Bearer emend_test");
});

test("encodes ids so that they stay one segment, and refuses those that cannot", async () => {
  const emend = new Emend({ baseUrl: server.url, apiKey: "emend_test" });
  await expect(emend.jobs("docs").get("a/b?c#d")).rejects.toMatchObject({ kind: "not_found" });
  expect(server.seen[0]?.path).toBe("/docs/emend/v2/agent/docs/job/a%2Fb%3Fc%23d");

  for (const id of ["", ".", "..", "\ud800"]) {
    await expect(emend.jobs("docs").get(id)).rejects.toMatchObject({ kind: "invalid_request", status: null });
    await expect(emend.jobs(id).get("job_1")).rejects.toMatchObject({ kind: "invalid_request", status: null });
  }
  expect(server.seen).toHaveLength(1);
});

test("says what an id must be where plain JavaScript passed none", async () => {
  const jobs = new Emend({ baseUrl: server.url, apiKey: "emend_test" }).jobs("docs");
  const nothing = undefined as unknown as string;
  for (const call of [jobs.get(nothing), jobs.wait(nothing), jobs.message(nothing, { prompt: "x" })]) {
    await expect(call).rejects.toMatchObject({
      kind: "invalid_request",
      message: "id must be a job's id, job_…, but is undefined",
    });
  }
  await expect(new Emend({ baseUrl: server.url, apiKey: "k" }).jobs(nothing).get("job_1")).rejects.toThrow(
    "projectId must be a project's id, prj_…, but is undefined",
  );
  expect(server.seen).toEqual([]);
});

test("takes the address and the key from the environment unless they are given", async () => {
  vi.stubEnv("EMEND_URL", server.url);
  vi.stubEnv("EMEND_API_KEY", "emend_environment");
  try {
    await new Emend().jobs("docs").get("job_1");
    await new Emend({ apiKey: "emend_given" }).jobs("docs").get("job_1");
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer emend_environment",
      "Bearer emend_given",
    ]);
    vi.stubEnv("EMEND_API_KEY", undefined);
    expect(() => new Emend()).toThrow("apiKey is missing; give it, or set EMEND_API_KEY");
    vi.stubEnv("EMEND_URL", undefined);
    expect(() => new Emend()).toThrow(/^baseUrl is missing; .*EMEND_URL/);
  } finally {
    vi.unstubAllEnvs();
  }
});

test.each(["", "localhost:4000", "ftp://emend.test", "https://user:pass@emend.test", "https://emend.test/?a=1"])(
  "refuses the base URL %j at construction",
  (baseUrl) => {
    expect(() => new Emend({ baseUrl, apiKey: "emend_test" })).toThrow(/baseUrl/);
  },
);

test.each(["", "  ", "emend_a b", "emend_\u00e4"])("refuses the key %j at construction", (apiKey) => {
  expect(() => new Emend({ baseUrl: server.url, apiKey })).toThrow(/apiKey/);
});

test("archives a job, and asks again while it is being published", async () => {
  const busy = { status: 409, headers: { "retry-after": "0", "emend-error": "conflict" }, body: '{"error":"busy"}' };
  server.faults.push({ kind: "answer", ...busy });

  const job = await new Emend({ baseUrl: server.url, apiKey: "emend_test" }).jobs("docs").archive("job_1");

  expect(job.status).toBe("archived");
  expect(server.seen.map((request) => `${request.method} ${request.path}`)).toEqual([
    "POST /docs/emend/v2/agent/docs/job/job_1/archive",
    "POST /docs/emend/v2/agent/docs/job/job_1/archive",
  ]);
});

test("keeps the key out of what printing the client shows", () => {
  const emend = new Emend({ baseUrl: server.url, apiKey: "emend_secret" });
  expect(JSON.stringify(emend)).not.toContain("emend_secret");
});

test("the README names every method, and every field of a new job", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const emend = new Emend({ baseUrl: server.url, apiKey: "emend_test" });
  const parts = [emend.jobs("docs"), emend.claims("docs"), emend.gates("docs"), emend.automations("docs")];
  const methods = [...Object.getOwnPropertyNames(Emend.prototype), ...parts.flatMap((part) => Object.keys(part))];
  const named = new Set(readme.match(/(?<=[`.{]\s?)\w+/g));
  const all = [...methods, ...Object.keys(CreateJobBody.properties)].filter((name) => name !== "constructor");
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((name) => !named.has(name))).toEqual([]);
});
