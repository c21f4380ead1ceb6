import { readFile } from "node:fs/promises";
import { anyText } from "@emend/testkit/any-text.ts";
import { startApi } from "@emend/testkit/api.ts";
import { isQuick } from "@emend/testkit/tier.ts";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

// Streams are short, so that their requests end.
const api = await startApi({ streams: { lifeMsMax: 20 } });
afterAll(() => api.close());
const project = await api.addProject({ createsPerHourMax: 50, models: ["acme/two"] });
const other = await api.addProject();
const keys = {
  write: await api.addKey(project),
  read: await api.addKey(project, { scope: "read" }),
  foreign: await api.addKey(other),
};
const { json } = await api.send(`/v2/agent/${project.id}/job`, {
  method: "POST",
  key: keys.write,
  body: { prompt: "x" },
});
const { id } = json as { id: string };

const operations = Object.entries(api.document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
const headerNames = [
  ...new Set(
    operations.flatMap(({ operation }) =>
      ((operation as unknown as { parameters?: { in: string; name: string }[] }).parameters ?? [])
        .filter((parameter) => parameter.in === "header")
        .map(({ name }) => name.toLowerCase()),
    ),
  ),
];

/** Anything that may occur between two slashes. */
const oddSegment = fc.oneof(
  anyText().map((text) => encodeURIComponent(text.toWellFormed())),
  fc.string({ unit: fc.constantFrom(..."%zZ0fF.~:@!$&'()*+,;=-_aé".replace("é", "")) }),
  fc.constantFrom("%", "%00", "%2e%2e", "..", "%ff", "x".repeat(2000), "null", "undefined", "__proto__", "constructor"),
);
const segment = (real: string) => fc.oneof({ weight: 3, arbitrary: fc.constant(real) }, oddSegment);

const query = fc
  .record(
    {
      status: fc.oneof(fc.constantFrom("active", "failed", "none", ""), anyText()),
      limit: fc.oneof(fc.constantFrom("1", "100", "0", "101", "-1", "1e1", " 5"), fc.string()),
      cursor: fc.oneof(fc.base64String(), anyText()),
      page: anyText(),
      state: fc.oneof(fc.constantFrom("same", "changed", "none"), fc.string()),
    },
    { requiredKeys: [] },
  )
  .map(
    (all) =>
      `?${Object.entries(all)
        .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
        .join("&")}`,
  );

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}
const nasty = fc.constantFrom(
  "\0",
  "a\0b",
  "\ud800",
  "\udc00x",
  "",
  " ",
  "\u202e",
  "\u2028",
  "'; --",
  "é".repeat(300),
  "__proto__",
);

/** Any value of a schema of the document, and now and then one that it forbids. */
function valueFor(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const { $ref, type, properties, items } = schema;
  if ($ref !== undefined) return valueFor(schemas[$ref.split("/").at(-1) ?? ""] ?? {}, depth);
  const choices = schema.anyOf ?? schema.oneOf;
  if (depth > 6) return fc.constant(null);
  if (choices) return fc.oneof(...choices.map((choice) => valueFor(choice, depth + 1)));
  if (schema.enum) return fc.oneof(fc.constantFrom(...schema.enum), nasty);
  if ("const" in schema) return fc.constant(schema.const);
  if (type === "string") return fc.oneof({ weight: 4, arbitrary: anyText({ minLength: 1 }) }, nasty, fc.anything());
  if (type === "integer" || type === "number") return fc.oneof(fc.integer({ min: -1, max: 9 }), fc.double(), nasty);
  if (type === "boolean") return fc.oneof({ weight: 4, arbitrary: fc.boolean() }, nasty);
  if (type === "array") return fc.array(valueFor(items ?? {}, depth + 1), { maxLength: 3 });
  if (!properties) return fc.anything();
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, valueFor(each, depth + 1)]),
  );
  return fc.record(fields, { requiredKeys: schema.required ?? [] });
}
const schemas = (api.document as unknown as { components: { schemas: Record<string, Schema> } }).components.schemas;
const bodySchemas = new Map(
  operations.flatMap(({ path: at, method: by, operation }) => {
    const content = (operation as unknown as { requestBody?: { content: Record<string, { schema: Schema }> } })
      .requestBody;
    const { schema } = content?.content["application/json"] ?? {};
    return schema ? [[`${by} ${at}`, valueFor(schema).map(safeJson)] as const] : [];
  }),
);

test("the document describes the bodies that are fuzzed", () => {
  expect(bodySchemas.size).toBeGreaterThan(4);
});

const path = fc
  .constantFrom(...operations)
  .chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      likely: bodySchemas.get(`${operation.method} ${operation.path}`) ?? fc.constant(undefined),
      projectId: segment(project.id),
      id: segment(id),
      end: fc.oneof(
        fc.constantFrom("", "/", "?a=b&a=%zz", "/?", "?cursor=%00", "?path=a%00b", "?status=%00", "?page=%00"),
        query,
      ),
    }),
  )
  .map(({ operation, likely, projectId, id: jobId, end }) => ({
    method: operation.method,
    path: operation.path.replace("{projectId}", () => projectId).replace("{id}", () => jobId) + end,
    likely,
  }));

const headerText = fc
  .string({ unit: fc.constantFrom(...'abz019 =,;"*/W-_.\té'), maxLength: 300 })
  .map((text) => text.trim());
const prefer = fc.oneof(
  fc.constantFrom("wait=0", "wait", "wait=x", 'wait="0";a=b', "wait=-1"),
  headerText.filter((text) => !text.includes("wait")),
);
/** Mostly absent: a request with many faults is refused for the first one. */
function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, arbitrary);
}
const oddHeaders = ["content-encoding", "expect", "accept-version", "x-forwarded-for", "range"];
const headers = fc
  .record(
    Object.fromEntries([
      ...headerNames.map((name) => [name, rarely(name === "prefer" ? prefer : headerText)]),
      ...oddHeaders.map((name) => [name, rarely(headerText)]),
    ]) as Record<string, fc.Arbitrary<string | undefined>>,
  )
  .map(
    (all) =>
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<string, string>,
  );

/** Stands for a body as the document describes it for the operation. */
const described = "described";
const body = fc.oneof(
  fc.constant(undefined),
  { weight: 6, arbitrary: fc.constant(described) },
  fc.json(),
  anyText(),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);
const contentType = fc.oneof(
  { weight: 4, arbitrary: fc.constant("application/json") },
  fc.constantFrom(
    "application/json;charset=x",
    "text/plain",
    "multipart/form-data; boundary=x",
    "*/*",
    "",
    ";",
    "application/json;;=",
    "a/b/c",
  ),
);
const method = rarely(fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"));
const authorization = fc.oneof(
  { weight: 5, arbitrary: fc.constant(`Bearer ${keys.write}`) },
  fc.constantFrom(`Bearer ${keys.read}`, `Bearer ${keys.foreign}`, `Bearer ${keys.write}x`, "Bearer", "", "Basic Og=="),
  headerText,
);

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_key, inner) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "null";
  } catch {
    return "{}";
  }
}

interface KeptRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  authorization?: string;
  body?: string;
}
// Requests that are sent in every run: what chance found is added here, in its shrunk form.
const kept = JSON.parse(
  await readFile(new URL("../../test/fixtures/fuzz-requests.json", import.meta.url), "utf8"),
) as readonly KeptRequest[];
type Example = [
  KeptRequest & { likely: undefined },
  undefined,
  Record<string, string>,
  string,
  string | undefined,
  "application/json",
];
const examples = kept.map(
  (request): Example => [
    {
      likely: undefined,
      method: request.method,
      path: request.path.replace("{project}", project.id).replace("{job}", id),
    },
    undefined,
    request.headers ?? {},
    (request.authorization ?? "Bearer {key}").replace("{key}", keys.write),
    request.body,
    "application/json",
  ],
);

test("every request gets a documented response, never a 500", async () => {
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      path,
      method,
      headers,
      authorization,
      body,
      contentType,
      async (target, otherMethod, more, auth, given, type) => {
        const content = given === described ? target.likely : given;
        const answer = await api.send(target.path, {
          method: otherMethod ?? target.method,
          headers: { ...more, authorization: auth, ...(content !== undefined && { "content-type": type }) },
          ...(content !== undefined && { body: content }),
        });
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        expect(answer.status).toBeLessThan(500);
      },
    ),
    { seed: 1, numRuns: isQuick ? 800 : 3000, examples },
  );
  // Some requests must be accepted, too.
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 401, 403, 404, 405, 415]));
});

interface WorldInputs {
  bodies: Readonly<Record<string, string>>;
  prompts: readonly string[];
}
const world = JSON.parse(
  await readFile(new URL("../../test/fixtures/fuzz-world.json", import.meta.url), "utf8"),
) as WorldInputs;
const roomy = await api.addProject({ createsPerHourMax: 1000 });
const roomyKey = await api.addKey(roomy);
const post = (body: Buffer | string) =>
  api.send(`/v2/agent/${roomy.id}/job`, {
    method: "POST",
    headers: { authorization: `Bearer ${roomyKey}`, "content-type": "application/json" },
    body,
  });

test("bodies that JSON parsers disagree about are refused, and none as a fault", async () => {
  for (const [name, text] of Object.entries(world.bodies)) {
    const { status, json } = await post(Buffer.from(text, "latin1"));
    expect(status, name).toBe(400);
    // What a parser must reject is refused as JSON, not for its missing prompt; an empty body has words of its own.
    if (name.startsWith("n_") && text !== "")
      expect(json, name).toEqual({ error: "The body is not valid JSON in UTF-8." });
  }
});

test("prompts that break programs are stored as they were sent", async () => {
  for (const prompt of world.prompts) {
    const { status, json } = await post(JSON.stringify({ prompt }));
    expect(status, JSON.stringify(prompt)).toBe(201);
    const { rows } = await api.pool.query("select prompt from jobs where id = $1", [(json as { id: string }).id]);
    expect(rows[0].prompt).toBe(prompt);
  }
});
