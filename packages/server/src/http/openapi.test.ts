import { operations as rows, webhookEvents } from "@emend/contract";
import { startApi } from "@emend/testkit/api.ts";
import { validate } from "@scalar/openapi-parser";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, describe, expect, test } from "vitest";

const api = await startApi({ promptCodePointsMax: 777 });
afterAll(() => api.close());
const project = await api.addProject();
const operations = Object.entries(api.document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })),
);

/** Of the table of operations. */
const drawn = Object.values(rows).flatMap(({ method, path }) => {
  const url = `/v2${path.replaceAll(/:(\w+)/g, "{$1}")}`;
  return method === "GET" ? [`GET ${url}`, `HEAD ${url}`] : [`${method} ${url}`];
});

/** `METHOD /path/{parameter}` of each route, read from the router's own tree. */
function servedRoutes(): string[] {
  const parts: string[] = [];
  return api.app
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .flatMap((line) => {
      const [, indent = "", part = "", methods = ""] = /^([\s│]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line) ?? [];
      parts.splice(indent.length / 4, Number.POSITIVE_INFINITY, part);
      const path = parts.join("").replaceAll(/:(\w+)/g, "{$1}");
      return methods === "" ? [] : methods.split(", ").map((method) => `${method} ${path}`);
    });
}

describe("the document", () => {
  test("is valid OpenAPI 3.1 at its own public address, with this installation's bound", async () => {
    const { json } = await api.send("/openapi.json");
    const { valid, errors } = await validate(json as Record<string, unknown>);
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    expect(json).toMatchObject({
      openapi: "3.1.0",
      info: { version: "2.0.0" },
      servers: [{ url: "https://emend.test/base" }],
      components: { schemas: { CreateJobBody: { properties: { prompt: { maxLength: 777 } } } } },
    });
  });

  test("is sent compressed, and not at all to those who have it", async () => {
    const compressed = await api.app.inject({ url: "/openapi.json", headers: { "accept-encoding": "gzip" } });
    expect(compressed.headers).toMatchObject({ "content-encoding": "gzip", "cache-control": "no-cache" });
    const known = { "if-none-match": String(compressed.headers.etag) };
    expect((await api.app.inject({ url: "/openapi.json", headers: known })).statusCode).toBe(304);
  });

  test("covers every /v2 route and no other", () => {
    const documented = operations.map(({ path, method }) => `${method} ${path}`);
    expect(documented.filter((each) => !drawn.includes(each)).toSorted()).toEqual([
      "DELETE /v2/agent/{projectId}/automations/{id}",
      "DELETE /v2/agent/{projectId}/claims/{id}",
      "GET /v2/agent/{projectId}/automations",
      "GET /v2/agent/{projectId}/claims",
      "GET /v2/agent/{projectId}/gates",
      "GET /v2/agent/{projectId}/gates/{id}",
      "GET /v2/agent/{projectId}/health",
      "GET /v2/agent/{projectId}/job/{id}",
      "GET /v2/agent/{projectId}/job/{id}/diff",
      "GET /v2/agent/{projectId}/job/{id}/events",
      "GET /v2/agent/{projectId}/job/{id}/run",
      "GET /v2/agent/{projectId}/jobs",
      "GET /v2/projects",
      "HEAD /v2/agent/{projectId}/automations",
      "HEAD /v2/agent/{projectId}/claims",
      "HEAD /v2/agent/{projectId}/gates",
      "HEAD /v2/agent/{projectId}/gates/{id}",
      "HEAD /v2/agent/{projectId}/health",
      "HEAD /v2/agent/{projectId}/job/{id}",
      "HEAD /v2/agent/{projectId}/job/{id}/diff",
      "HEAD /v2/agent/{projectId}/job/{id}/events",
      "HEAD /v2/agent/{projectId}/job/{id}/run",
      "HEAD /v2/agent/{projectId}/jobs",
      "HEAD /v2/projects",
      "PATCH /v2/agent/{projectId}/automations/{id}",
      "POST /v2/agent/{projectId}/automations",
      "POST /v2/agent/{projectId}/automations/{id}/run",
      "POST /v2/agent/{projectId}/claims",
      "POST /v2/agent/{projectId}/claims/{id}/confirm",
      "POST /v2/agent/{projectId}/gates/{id}/look",
      "POST /v2/agent/{projectId}/job",
      "POST /v2/agent/{projectId}/job/{id}/approve",
      "POST /v2/agent/{projectId}/job/{id}/archive",
      "POST /v2/agent/{projectId}/job/{id}/cancel",
      "POST /v2/agent/{projectId}/job/{id}/decline",
      "POST /v2/agent/{projectId}/job/{id}/message",
      "POST /v2/agent/{projectId}/job/{id}/publish",
      "POST /v2/agent/{projectId}/job/{id}/retry",
      "POST /v2/agent/{projectId}/upload",
    ]);
    expect(documented).toEqual(expect.arrayContaining(drawn));
    const served = servedRoutes().filter((route) => route.includes(" /v2/"));
    expect(served.toSorted()).toEqual(documented.toSorted());
  });

  test("has examples that are as its schemas say", () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema({ ...api.document, $id: "openapi" });
    const { schemas } = api.document.components as unknown as { schemas: Record<string, { examples?: unknown[] }> };
    const shown = Object.entries(schemas).filter(([, { examples }]) => examples !== undefined);
    expect(shown.map(([name]) => name)).toEqual(
      expect.arrayContaining(["AgentJob", "JobList", "JobRun", "JobDiff", "JobEvent"]),
    );
    for (const [name, { examples = [] }] of shown) {
      const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
      for (const example of examples) expect(validate?.(example), ajv.errorsText(validate?.errors)).toBe(true);
    }
  });

  test("says all that an answer, an event or a webhook's message may hold: nothing more is admitted anywhere", () => {
    const { schemas } = api.document.components as unknown as { schemas: Record<string, unknown> };
    const requests = [
      "CreateJobBody",
      "MessageJobBody",
      "ApproveJobBody",
      "AddClaimBody",
      "CreateAutomationBody",
      "EditAutomationBody",
    ];
    const open: string[] = [];
    const walk = (schema: unknown, path: string): void => {
      if (schema === null || typeof schema !== "object" || path.endsWith(".examples")) return;
      if ("properties" in schema && !("additionalProperties" in schema)) open.push(path);
      for (const [name, inner] of Object.entries(schema)) walk(inner, `${path}.${name}`);
    };
    for (const [name, schema] of Object.entries(schemas)) if (!requests.includes(name)) walk(schema, name);
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(["JobEventData", "WebhookMessage"]));
    expect(open).toEqual([]);
    const { webhooks } = api.document as unknown as { webhooks: Record<string, unknown> };
    expect(Object.keys(webhooks)).toEqual([...webhookEvents]);
  });

  test("gives a job exactly the nine fields of the interface", async () => {
    const { AgentJob } = (api.document.components as unknown as { schemas: Record<string, { properties: object }> })
      .schemas;
    expect(Object.keys(AgentJob?.properties ?? {})).toEqual([
      "id",
      "status",
      "source",
      "model",
      "prLink",
      "createdAt",
      "archivedAt",
    ]);
  });
});

describe("every route, by the document", () => {
  // Only operations of one project.
  test.each(operations.filter(({ path }) => path.includes("{projectId}")))(
    "$method $path with a foreign key: 404, always the same",
    async ({ path, method }) => {
      const foreign = await api.addKey(await api.addProject());
      const { rows } = await api.pool.query("select id from jobs limit 1");
      const real = path.replace("{projectId}", project.id).replace("{id}", rows[0]?.id ?? "job_none");
      const absent = path.replace("{projectId}", "prj_none").replace("{id}", "job_none");
      const send = (target: string) =>
        api.send(target, { method, key: foreign, body: method === "POST" ? { prompt: "x" } : undefined });
      const answers = [await send(real), await send(absent)].map(
        ({ status, text, headers: { date: _, "x-request-id": __, ...headers } }) => ({ status, text, headers }),
      );
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]).toMatchObject({
        status: 404,
        text: method === "HEAD" ? "" : '{"error":"Project not found."}',
      });
    },
  );
});

describe("every route, with a key that is not good enough", async () => {
  const { id } = (
    await api.send(`/v2/agent/${project.id}/job`, {
      method: "POST",
      key: await api.addKey(project),
      body: { prompt: "x" },
    })
  ).json as { id: string };
  const good = await api.addKey(project);
  const expired = await api.addKey(project, { name: "expired" });
  const revoked = await api.addKey(project, { name: "revoked" });
  await api.pool.query("update admin_keys set expires_at = now() - interval '1 second' where name = 'expired'");
  await api.pool.query("update admin_keys set revoked_at = now() where name = 'revoked'");
  const bad = { missing: null, malformed: "x", wrong: `${good.slice(0, -1)}!`, expired, revoked };
  const send = (operation: { path: string; method: string }, key: string | null) =>
    api.send(operation.path.replace("{projectId}", project.id).replace("{id}", id), {
      method: operation.method,
      key,
      body: operation.method === "POST" ? { prompt: 5 } : undefined,
    });

  test.each(operations)("$method $path: 401 whatever is wrong with it, always the same", async (operation) => {
    const answers = [];
    for (const key of Object.values(bad)) {
      const { status, text, headers } = await send(operation, key);
      answers.push({ status, text, error: headers["emend-error"], challenge: headers["www-authenticate"] });
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, error: "unauthorized", challenge: "Bearer" });
  });

  test.each(operations.filter(({ method }) => method === "POST"))(
    "$method $path: 403 if it is read-only",
    async (operation) => {
      const before = await api.pool.query("select * from jobs where id = $1", [id]);
      expect((await send(operation, await api.addKey(project, { scope: "read" }))).status).toBe(403);
      expect((await api.pool.query("select * from jobs where id = $1", [id])).rows).toEqual(before.rows);
    },
  );
});

describe("the reference page", () => {
  test("has every operation, loads nothing and runs nothing", async () => {
    const page = await fetch(`${api.url}/reference`);
    expect(page.url).toBe(`${api.url}/reference/`);
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).not.toMatch(/(https?:)?\/\/[a-z]|<script|src=/i);
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
    const ways = Object.entries(api.document.paths).flatMap(([path, item]) =>
      Object.keys(item as object)
        .filter((method) => method !== "head")
        .map((method) => `<code><b>${method.toUpperCase()}</b> ${path}</code>`),
    );
    expect(ways.length).toBeGreaterThan(10);
    for (const way of ways) expect(html).toContain(way);
    expect(html).toContain("<code>source.ref</code>");
    const again = await fetch(page.url, { headers: { "if-none-match": String(page.headers.get("etag")) } });
    expect(again.status).toBe(304);
  });

  test("does not trust the Host header", async () => {
    const answer = await api.send("/reference/", { headers: { host: "a b{}" } });
    expect(answer.status).toBe(200);
  });
});
