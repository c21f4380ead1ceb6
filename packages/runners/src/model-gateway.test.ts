import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createFetch } from "@emend/base/network.ts";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type ModelGateway, startModelGateway } from "./model-gateway.ts";
import { runnerVendors } from "./vendors.ts";

const apiKey = "sk-model-0123456789";
const [anthropic, openai] = runnerVendors;
if (!anthropic || !openai) throw new Error("two vendors are known");

interface Heard {
  line: string;
  headers: IncomingMessage["headers"];
  bytes: number;
}

let far: Server;
let farUrl: string;
let answerWith: (request: IncomingMessage, response: ServerResponse) => void;
const heard: Heard[] = [];
beforeAll(async () => {
  far = createServer(async (incoming, outgoing) => {
    let bytes = 0;
    for await (const piece of incoming as AsyncIterable<Buffer>) bytes += piece.length;
    heard.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, bytes });
    answerWith(incoming, outgoing);
  });
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
  farUrl = `http://127.0.0.1:${(far.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  far.closeAllConnections();
  far.close();
});

const gateways: ModelGateway[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close();
  heard.length = 0;
  answerWith = (_, response) => void response.end('{"said":"hi"}');
});
answerWith = (_, response) => void response.end('{"said":"hi"}');

type Input = Partial<Parameters<typeof startModelGateway>[1]>;
async function start(input: Input = {}, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<ModelGateway> {
  const gateway = await startModelGateway(
    { fetch },
    { vendor: anthropic as never, baseUrl: farUrl, apiKey, model: null, socketPath: null, ...input },
  );
  gateways.push(gateway);
  return gateway;
}

interface Ask {
  method?: string;
  path?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Resolves with the response headers, before the body. */
function begin(gateway: ModelGateway, ask: Ask = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const {
      method = "POST",
      path = "/v1/messages",
      body = path.includes("/responses") ? { input: "hi" } : { messages: [] },
      headers = { "x-api-key": gateway.token },
    } = ask;
    const asked = request({ host: "127.0.0.1", port: gateway.port, method, path, headers }, resolve);
    asked.on("error", reject);
    asked.end(method === "GET" ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
}

async function ask(gateway: ModelGateway, asked: Ask = {}): Promise<{ status: number; text: string }> {
  const answer = await begin(gateway, asked);
  let text = "";
  for await (const piece of answer) text += piece;
  return { status: answer.statusCode ?? 0, text };
}

it("asks the vendor with the key in place of the token, and hands the answer on", async () => {
  const gateway = await start();
  const headers = { "x-api-key": gateway.token, "anthropic-version": "2023-06-01", cookie: "a=b", connection: "x-hop" };
  expect(await ask(gateway, { path: "/v1/messages?beta=true", headers })).toEqual({
    status: 200,
    text: '{"said":"hi"}',
  });
  expect(heard).toMatchObject([
    { line: "POST /v1/messages?beta=true", headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" } },
  ]);
  expect(JSON.stringify(heard)).not.toContain(gateway.token);
  expect(heard[0]?.headers.cookie).toBeUndefined();
});

it("shows OpenAI the key as it wants it", async () => {
  const gateway = await start({ vendor: openai });
  const headers = { authorization: `Bearer ${gateway.token}` };
  expect((await ask(gateway, { path: "/v1/responses", headers })).status).toBe(200);
  expect(heard).toMatchObject([{ headers: { authorization: `Bearer ${apiKey}` } }]);
  expect(heard[0]?.headers["x-api-key"]).toBeUndefined();
});

it.each([
  ["no token", () => ({})],
  ["another's key", () => ({ "x-api-key": "sk-of-somebody-else" })],
  ["a part of the token", (token: string) => ({ authorization: `Bearer ${token.slice(0, -1)}` })],
  ["the key itself", () => ({ "x-api-key": apiKey })],
])("answers 401 to %s, and the vendor hears nothing", async (_, headersFor) => {
  const gateway = await start();
  expect((await ask(gateway, { headers: headersFor(gateway.token) })).status).toBe(401);
  expect(heard).toEqual([]);
});

it("has another token for every run", async () => {
  const [one, other] = [await start(), await start()];
  expect((await ask(one, { headers: { "x-api-key": other.token } })).status).toBe(401);
});

it.each([
  ["POST", "/v1/files"],
  ["POST", "/v1/messages/batches"],
  ["GET", "/v1/messages"],
  ["PUT", "/v1/models/x"],
  ["POST", "/v1/messages/../files"],
  ["POST", "/v1/messages/%2e%2e/files"],
  ["POST", "/v1/messages%2f..%2ffiles"],
  ["POST", "/v2/messages"],
  ["GET", "/"],
  ["POST", "//evil.example/v1/messages"],
  ["POST", "http://evil.example/v1/messages"],
  ["POST", "http://127.0.0.1@evil.example/v1/messages"],
  ["POST", "https://api.anthropic.com/v1/messages"],
])("refuses %s %s", async (method, path) => {
  const gateway = await start();
  expect((await ask(gateway, { method, path })).status).toBe(403);
  expect(heard).toEqual([]);
});

it("accepts its own address in the form that proxies get", async () => {
  const gateway = await start();
  const path = `http://127.0.0.1:${gateway.port}/v1/messages`;
  expect((await ask(gateway, { path })).status).toBe(200);
});

it("opens no tunnel, not even to the model", async () => {
  const gateway = await start();
  const status = await new Promise((resolve, reject) => {
    const asked = request({ port: gateway.port, method: "CONNECT", path: new URL(farUrl).host });
    asked
      .on("connect", (reply) => resolve(reply.statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(403);
});

it.each([
  [{ tools: [{ type: "web_search_20250305", name: "web_search" }] }],
  [{ tools: [{ type: "custom" }, { type: "web_fetch_20250910" }] }],
  [{ mcp_servers: [{ url: "https://evil.example" }] }],
  ['{"tools":[{"type":"web_search"}],"tools":[{"type":"web_search"}]}'],
])("refuses what would make the vendor go elsewhere: %j", async (body) => {
  const gateway = await start();
  const { status, text } = await ask(gateway, { body });
  expect([status, text]).toEqual([403, expect.stringContaining("nothing else")]);
  expect(heard).toEqual([]);
});

it("lets the vendor read what was looked at, of two settings with one name too", async () => {
  let body = "";
  const gateway = await start({}, async (_, init) => {
    body = Buffer.from(init?.body as Uint8Array).toString();
    return new Response("{}");
  });
  await ask(gateway, { body: '{"tools":[{"type":"web_search"}],"tools":[]}' });
  expect(body).toBe('{"tools":[]}');
});

it("refuses an unreadable body", async () => {
  expect((await ask(await start(), { body: "\x1f\x8b" })).status).toBe(400);
});

/** A small request that uses a lot of memory when parsed. */
const costly = `{"messages":[${"{},".repeat(2 ** 20)}0]}`;

it("refuses bodies that are large when parsed or nested deeply, and continues", async () => {
  const gateway = await start();
  const { status, text } = await ask(gateway, { body: costly });
  expect([status, text]).toEqual([413, expect.stringContaining("250000 values")]);
  expect((await ask(gateway, { body: `{"messages":${"[".repeat(300)}${"]".repeat(300)}}` })).status).toBe(413);
  expect(heard).toEqual([]);
  expect((await ask(gateway)).status).toBe(200);
});

it("parses requests on a separate thread with limits on memory and time", async () => {
  const large = await start({ limits: { nodesMax: Infinity, judgeMemoryMb: 24, judgeMsMax: 60_000 } });
  expect((await ask(large, { body: costly })).status).toBe(413);
  expect((await ask(large)).status).toBe(200);

  const slow = await start({ limits: { judgeMsMax: 0 } });
  const { status, text } = await ask(slow);
  expect([status, text]).toEqual([413, expect.stringContaining("more time or memory")]);
});

it("asks only the model that the run was given, where it was given one", async () => {
  const gateway = await start({ model: "gpt-5", vendor: openai });
  const asks = (model?: string) => ask(gateway, { path: "/v1/responses", body: { model, input: "hi" } });
  expect((await asks("gpt-5")).status).toBe(200);
  for (const model of ["gpt-5-pro", undefined]) expect((await asks(model)).status).toBe(403);
});

it("forwards a program's own headers, but none that change the model or the account", async () => {
  const gateway = await start();
  const passed = {
    accept: "application/json",
    "user-agent": "claude-cli/2",
    "x-stainless-lang": "js",
    "x-app": "cli",
    "x-claude-code-session-id": "s",
    originator: "codex_exec",
    "session-id": "s",
    "x-codex-turn-state": "t",
  };
  const dropped = {
    "openai-organization": "org-other",
    "openai-project": "proj-other",
    "x-http-method-override": "DELETE",
    "x-original-url": "/v1/files",
    "x-forwarded-for": "192.0.2.1",
    "helicone-target-url": "https://evil.example",
    "api-key": "x",
    cookie: "a=b",
  };
  const trials = {
    "anthropic-beta": "claude-code-20250219, web-fetch-2025-09-10,mcp-client-2025-04-04,tool-search-tool-2025-10-19",
    "openai-beta": "assistants=v2",
  };
  const headers = { "x-api-key": gateway.token, "content-type": "text/plain", ...passed, ...dropped, ...trials };
  await ask(gateway, { path: "/v1/messages?beta=true&key=x&api-version=1", headers });
  expect(heard).toMatchObject([
    {
      line: "POST /v1/messages?beta=true",
      headers: {
        ...passed,
        "content-type": "application/json",
        "accept-encoding": "identity",
        "anthropic-beta": "claude-code-20250219,tool-search-tool-2025-10-19",
      },
    },
  ]);
  const names = Object.keys(heard[0]?.headers ?? {});
  expect(names.filter((name) => name in dropped || name === "openai-beta")).toEqual([]);
});

it("hands a stream on piece by piece, as it comes", async () => {
  let further: (text: string) => void = () => {};
  answerWith = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    further = (text) => void response.write(text);
    further("data: 1\n\n");
  };
  const answer = await begin(await start());
  expect(answer.headers["content-type"]).toBe("text/event-stream");
  const pieces = answer[Symbol.asyncIterator]();
  // Each chunk arrives before the vendor sends the next one.
  for (const text of ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"]) {
    expect(String((await pieces.next()).value)).toBe(text);
    further(text === "data: 1\n\n" ? "data: 2\n\n" : "data: 3\n\n");
  }
  answer.destroy();
});

it("carries large requests and responses completely", async () => {
  const long = "x".repeat(7 * 2 ** 20);
  answerWith = (_, response) => void response.end(long);
  const { text } = await ask(await start(), { body: { messages: [{ role: "user", content: long }] } });
  expect(text.length).toBe(long.length);
  expect(heard[0]?.bytes).toBeGreaterThan(long.length);
});

it("removes the key from the vendor's response, in headers and across chunks", async () => {
  answerWith = (_, response) => {
    response.writeHead(401, { "x-echo": apiKey });
    response.write(`no such key: ${apiKey.slice(0, 9)}`);
    setImmediate(() => response.end(`${apiKey.slice(9)}, or ${apiKey}`));
  };
  const answer = await begin(await start());
  let text = "";
  for await (const piece of answer) text += piece;
  expect(text).toBe(`no such key: ${"*".repeat(apiKey.length)}, or ${"*".repeat(apiKey.length)}`);
  expect(answer.headers["x-echo"]).toBeUndefined();
});

it("hands refusals of the vendor on, with when to come again", async () => {
  answerWith = (_, response) => void response.writeHead(429, { "retry-after": "7" }).end("slow down");
  const answer = await begin(await start());
  expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([429, "7"]);
  answer.destroy();
});

it("lets the vendor go when the program does, and when the run ends", async () => {
  const untilCut = () =>
    new Promise<void>((resolve) => {
      answerWith = (_, response) => {
        response.on("close", () => resolve());
        response.write("data: 1\n\n");
      };
    });
  const byProgram = untilCut();
  (await begin(await start())).destroy();
  await byProgram;
  const byRun = untilCut();
  const gateway = await start();
  const answer = await begin(gateway);
  const broken = new Promise((resolve) => answer.on("error", resolve));
  answer.resume();
  await gateway.close();
  await Promise.all([byRun, broken]);
});

it("bounds requests, their bytes, how many run at a time, and all answers together", async () => {
  const few = await start({ limits: { requestsMax: 1 } });
  expect((await ask(few)).status).toBe(200);
  expect((await ask(few)).status).toBe(403);

  const small = await start({ limits: { requestBytesMax: 20 } });
  expect((await ask(small, { body: { messages: ["long enough"] } })).status).toBe(413);

  const quiet = await start({ limits: { askedBytesMax: 20 } });
  expect((await ask(quiet)).status).toBe(200);
  expect((await ask(quiet)).status).toBe(403);
  expect((await ask(quiet, { method: "GET", path: "/v1/models" })).status).toBe(403);

  const one = await start({ limits: { atOnceMax: 1 } });
  answerWith = (_, response) => void response.write("data: 1\n\n");
  const first = await begin(one);
  expect((await ask(one)).status).toBe(429);
  first.destroy();

  answerWith = (_, response) => void response.end("0123456789");
  const brief = await start({ limits: { answerBytesMax: 15 } });
  expect((await ask(brief)).status).toBe(200);
  await expect(ask(brief)).rejects.toThrow();
  expect((await ask(brief)).status).toBe(403);
});

it("waits no longer than it may", async () => {
  answerWith = () => {};
  expect((await ask(await start({ limits: { requestMsMax: 1 } }))).status).toBe(502);
});

it("reports a vendor that does not answer", async () => {
  const { status, text } = await ask(await start({ baseUrl: "http://127.0.0.1:1/v1" }));
  expect([status, text]).toEqual([502, expect.stringContaining("does not answer")]);
});

it("speaks TLS to the vendor, and trusts the operator's authority alone beside the usual ones", async () => {
  const certificates = new URL("../../testkit/src/certificates/", import.meta.url);
  const caFile = fileURLToPath(new URL("localhost.cert.pem", certificates));
  const secure = createSecureServer(
    { key: readFileSync(new URL("localhost.key.pem", certificates)), cert: readFileSync(caFile) },
    (_, response) => void response.end("over TLS"),
  );
  await new Promise<void>((resolve) => secure.listen(0, "localhost", resolve));
  const baseUrl = `https://localhost:${(secure.address() as AddressInfo).port}/v1`;
  for (const [network, expected] of [
    [{ caFile }, 200],
    [{}, 502],
  ] as const) {
    const { fetch, close } = createFetch(network);
    expect((await ask(await start({ baseUrl }, fetch as unknown as typeof globalThis.fetch))).status).toBe(expected);
    await close();
  }
  secure.closeAllConnections();
  secure.close();
});
