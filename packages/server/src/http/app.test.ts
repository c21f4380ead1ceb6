import { once } from "node:events";
import { connect } from "node:net";
import { startApi } from "@emend/testkit/api.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { afterAll, describe, expect, test } from "vitest";

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject();
const jobs = `/v2/agent/${project.id}/job`;
const key = await api.addKey(project);
const paths = [
  { path: jobs, allow: "POST" },
  { path: `${jobs}/some-id`, allow: "GET, HEAD" },
  { path: `${jobs}/some-id/archive`, allow: "POST" },
];

/** Sends raw bytes and returns the whole response. */
async function sendBytes(text: string): Promise<string> {
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {});
  socket.end(text);
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

describe("404", () => {
  test.each(["/", "/v2", "/v3/agent/x/job", "/nothing?x=1", "/%zz", "/healthz/x", "/wp-login.php"])(
    "for %s",
    async (path) => {
      const answer = await api.send(path);
      expect(answer.status).toBe(404);
      expect(answer.headers).toMatchObject({ "emend-error": "not_found", "cache-control": "no-store" });
      expect(Object.keys(answer.json as object)).toEqual(["error"]);
    },
  );

  test.each([
    "/v2/",
    "/v2/agent",
    "/v2/agent/x",
    "/V2/agent/x/job",
    `${jobs}z`,
    `${jobs}//`,
    `${jobs}/some-id/archive/more`,
    "/v2/agent/%zz/job",
    "/v2/agent//job",
    "/v2/agent/%00/job",
  ])("below /v2 for %s, with a key; without one 401", async (path) => {
    const method = path.endsWith("job") ? "POST" : "GET";
    const { port } = new URL(api.url);
    const send = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
    const [known, unknown] = [await send({ authorization: `Bearer ${key}` }), await send({})];
    expect(known.status).toBe(404);
    expect(Object.keys((await known.json()) as object)).toEqual(["error"]);
    expect([404, 401]).toContain(unknown.status);
    if (path.startsWith("/v2/")) expect(unknown.status).toBe(401);
  });
});

test("a path of the older interface leads to the newer, without a key", async () => {
  const answer = await api.send(`/v1/agent/${project.id}/job`, { method: "POST", body: { branch: "x" } });
  expect(answer).toMatchObject({ status: 404, json: { error: expect.stringContaining("/v2/agent/{projectId}/job") } });
});

test("every answer names its request: the caller's id where it is usable, else a new one", async () => {
  const { id } = (await api.send(jobs, { method: "POST", key, body: { prompt: "x" } })).json as { id: string };
  await api.send(`${jobs}/${id}/cancel`, { method: "POST", key });
  for (const [path, request] of [
    [jobs, { method: "POST", key, body: { prompt: "x" } }],
    [`${jobs}/${id}`, { key }],
    [`${jobs}/${id}/run`, { key }],
    [`${jobs}/${id}/events`, { key }],
    [jobs, { method: "POST", key, body: {} }],
    [jobs, { key }],
    [`${jobs}/${id}`, {}],
    ["/nothing", {}],
    ["/%zz", {}],
    ["/openapi.json", {}],
    ["/healthz", {}],
  ] as const) {
    const given = await api.send(path, { ...request, headers: { "x-request-id": "trace:1.a-b" } });
    expect(given.headers["x-request-id"], path).toBe("trace:1.a-b");
    const [one, two] = [
      await api.send(path, request),
      await api.send(path, { ...request, headers: { "x-request-id": "ä b" } }),
    ];
    for (const { headers } of [one, two]) expect(headers["x-request-id"], path).toMatch(/^req_[\w-]{36}$/);
    expect(one.headers["x-request-id"]).not.toBe(two.headers["x-request-id"]);
  }
  expect(await sendBytes("GET / HTTP/1.1\r\n\r\n")).toMatch(/^x-request-id: req_/im);
  expect(await sendBytes("noise\r\n\r\n")).toMatch(/^x-request-id: req_/im);
});

describe("405", () => {
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];
  const wrong = paths.flatMap(({ path, allow }) =>
    methods.filter((method) => !allow.includes(method)).map((method) => [method, path, allow] as const),
  );

  test.each(wrong)("%s %s", async (method, path, allow) => {
    const answer = await api.send(path, { method, key, body: method === "HEAD" ? undefined : "{" });
    expect(answer.status).toBe(405);
    expect(answer.headers).toMatchObject({ allow, "emend-error": "method_not_allowed" });
    if (method !== "HEAD") {
      expect(answer.json).toEqual({ error: `Method not allowed. Use ${allow.replace(", HEAD", "")}.` });
    }
    expect((await api.send(`${path}/`, { method, key })).status).toBe(405);
    expect((await api.send(path, { method })).status, "the key comes first").toBe(401);
    const foreign = path.replace(project.id, "none");
    expect((await api.send(foreign, { method, key })).status, "then the project").toBe(404);
  });

  test("outside of /v2 no key is asked for", async () => {
    const answer = await api.send("/healthz", { method: "POST" });
    expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});

describe("what is not HTTP", () => {
  test.each([
    ["noise", "\x16\x03\x01\x02\x00\r\n\r\n", "400"],
    ["a bad method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "400"],
    ["a bad header", "GET / HTTP/1.1\r\nHost: x\r\nbad header: x\r\n\r\n", "400"],
    ["two lengths", `POST ${jobs} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx`, "400"],
    [
      "a length and chunks",
      `POST ${jobs} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      "400",
    ],
    ["no Host", `GET ${jobs}/x HTTP/1.1\r\nConnection: close\r\n\r\n`, "400"],
    ["a header of 20 kB", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, "431"],
  ])("%s: an answer of our own form", async (_name, bytes, status) => {
    const answer = await sendBytes(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\nemend-error: invalid_request\r\n/);
    const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
  });

  test("an interrupted body does not harm the server", async () => {
    await sendBytes(
      `POST ${jobs} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"pro`,
    );
    expect((await api.send(`${jobs}/none`, { key })).status).toBe(404);
  });

  test("a target with an authority is the same path", async () => {
    const answer = await sendBytes(
      `GET http://elsewhere.test/healthz HTTP/1.1\r\nHost: elsewhere.test\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe("where it is reached", () => {
  test("idle connections are kept longer than load balancers keep theirs", () => {
    expect(api.app.server.keepAliveTimeout).toBeGreaterThan(60_000);
  });

  test("the base path of the public URL may have been taken off by a proxy, or not", async () => {
    for (const path of ["/healthz", "/base/healthz", "/base/healthz/"]) expect((await api.send(path)).status).toBe(200);
    for (const path of ["/basement/healthz", "/base", "/base?x"]) expect((await api.send(path)).status).toBe(404);
  });

  test("the client's address is the proxy's word only where the proxy is trusted", async () => {
    const trusting = await startApi({ databaseUrl: api.database.url, trustProxy: "127.0.0.1" });
    const listed = await api.addKey(project, { allowList: ["192.0.2.7", "2001:db8::/32"] });
    const status = async (at: typeof api, forwarded: string) =>
      (await at.send(`${jobs}/none`, { key: listed, headers: { "x-forwarded-for": forwarded } })).status;
    expect(await status(trusting, "192.0.2.7")).toBe(404);
    expect(await status(trusting, "2001:db8::1")).toBe(404);
    expect(await status(trusting, "::ffff:192.0.2.7")).toBe(404);
    expect(await status(trusting, "192.0.2.8")).toBe(401);
    expect(await status(trusting, "192.0.2.7, 198.51.100.1"), "only the nearest hop is believed").toBe(401);
    expect(await status(trusting, "nonsense")).toBe(401);
    expect(await status(api, "192.0.2.7")).toBe(401);
    await trusting.close();
  });
});

describe("503", () => {
  test("while the database is away, and not a moment longer", async () => {
    const database = await createTestDatabase();
    const proxy = await startDatabaseProxy(database.url);
    const away = await startApi({ databaseUrl: proxy.url });
    const requests = async () => [
      await away.send("/readyz"),
      await away.send(jobs, { method: "POST", key, body: { prompt: "x" } }),
      await away.send(`${jobs}/none`, { key }),
      await away.send(`${jobs}/none/archive`, { method: "POST", key }),
      await away.send(jobs, { method: "PUT", key }),
      await away.send(`${jobs}/%zz`, { key }),
    ];
    expect((await requests()).map(({ status }) => status)).toEqual([200, 401, 401, 401, 401, 401]);
    await proxy.close();
    const answers = await requests();
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 503]);
    for (const { headers, json } of answers) {
      expect(headers).toMatchObject({ "retry-after": "1", "emend-error": "unavailable" });
      expect(Object.keys(json as object)).toEqual(["error"]);
    }
    expect((await away.send("/healthz")).status, "the process itself is well").toBe(200);
    await away.close();
    await database.drop();
  });
});

describe("plugins", () => {
  test("bring routes with their own parsers, and get our errors and 405", async () => {
    const extended = await startApi({
      plugins: [
        async (app) => {
          app.addContentTypeParser("text/plain", { parseAs: "string" }, (_request, body, done) => done(null, body));
          app.post("/echo", async (request) => ({ said: request.body }));
          app.get("/broken", async () => {
            throw new Error("with a secret in it");
          });
        },
      ],
    });
    const echo = await extended.send("/echo", {
      method: "POST",
      body: "hello",
      headers: { "content-type": "text/plain" },
    });
    expect(echo.json).toEqual({ said: "hello" });
    expect((await extended.send("/echo")).headers.allow).toBe("POST");
    const broken = await extended.send("/broken");
    expect([broken.status, broken.text]).toEqual([500, '{"error":"Internal error."}']);
    expect(Object.keys(extended.document.paths).filter((path) => !path.startsWith("/v2/"))).toEqual([]);
    await extended.close();
  });
});
