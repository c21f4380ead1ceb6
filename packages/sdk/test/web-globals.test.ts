import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ContractServer, startContractServer } from "./support/contract-server.ts";

// Only what browsers, edge runtimes, Bun, Deno and Node 20 share, and no Node globals: no process, no Buffer, no require.
const webGlobals = {
  fetch,
  URL,
  URLSearchParams,
  Headers,
  Request,
  Response,
  ReadableStream,
  TextEncoder,
  TextDecoder,
  AbortController,
  AbortSignal,
  DOMException,
  Event,
  EventTarget,
  crypto,
  performance,
  atob,
  btoa,
  setTimeout,
  clearTimeout,
};

let server: ContractServer;
let code: string;
beforeAll(async () => {
  server = await startContractServer();
  const bundle = await rolldown({ input: join(import.meta.dirname, "..", "src", "index.ts"), external: () => false });
  const { output } = await bundle.generate({ format: "iife", name: "sdk" });
  await bundle.close();
  ({ code } = output[0]);
});
afterAll(() => server.stop());

test("needs no module and no global of Node's own", async () => {
  expect(code).not.toMatch(/\b(require|node:|Buffer)\b/);
  const context = createContext({ ...webGlobals, baseUrl: server.url, seen: [] as string[] });
  runInContext(code, context);
  const use = `(async () => {
    const jobs = new sdk.Emend({ baseUrl, apiKey: "emend_test" }).jobs("docs");
    const { id } = await jobs.create({ prompt: "go" });
    for await (const job of jobs.list()) seen.push(job.status);
    await jobs.cancel(id);
    for await (const event of jobs.events(id)) seen.push(event.kind);
    const ended = await jobs.wait(id);
    const refused = await sdk.verifyWebhook({ secret: "whsec_AAAA", headers: {}, body: "" }).catch((error) => error.kind);
    return [...seen, ended.status, refused];
  })()`;
  server.tell("job_1", "failed");
  expect([...(await runInContext(use, context))]).toEqual(["active", "failed", "failed", "invalid_signature"]);
});
