import type { Model } from "@emend/agent";
import type { Fetch } from "@emend/base/network.ts";
import { attributeOf as attribute, startCollector } from "@emend/testkit/trace-collector.ts";
import { clientOf, createInstallation } from "@emend/testkit/whole-server.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { traceModel } from "./trace-agent.ts";
import { readTracingSettings, startTracing, traceFetch, traceStages } from "./tracing.ts";

let collector: Awaited<ReturnType<typeof startCollector>>;
beforeAll(async () => {
  collector = await startCollector();
});
beforeEach(() => {
  collector.spans.length = 0;
});
afterAll(() => collector.stop());

const named = (name: string) => collector.spans.filter((span) => span.name === name);
const start = () =>
  startTracing({
    endpoint: `${collector.endpoint}/v1/traces`,
    headers: { "x-team": "docs" },
    serviceName: "e",
    content: false,
  });

test("a whole server sends its requests, its run's stages and its model's turns", async () => {
  const installation = await createInstallation({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_SERVICE_NAME: "docs-bot",
  });
  try {
    const server = await installation.start();
    const docs = await installation.makeDocs({ "index.md": "# Acme\n\nWelcome to Acme.\n" });
    const { id } = await server.admin.addProject({ name: "Docs", forge: "local", repo: docs });
    const { key } = await server.admin.createKey({ projectIds: [id], name: "test", scope: "write" });
    const client = clientOf(server, id, key);
    const job = await client.create({ prompt: 'Replace "Acme" with "Apex".' });
    expect((await client.untilFinal(job.id)).status).toBe("completed");
    await server.stop();

    expect(attribute(named("POST /v2/agent/:projectId/job")[0], "http.response.status_code")).toBe(201);
    const [run] = named("run runAgent");
    expect(attribute(run, "emend.job.id")).toBe(job.id);
    const stages = ["run openTree", "run review", "run diff", "run publish"].flatMap(named);
    expect(stages.length).toBeGreaterThanOrEqual(4);
    for (const stage of stages) expect(stage.traceId).toBe(run?.traceId);
    const turns = named("model emend/rules");
    expect(turns.length).toBeGreaterThan(0);
    for (const turn of turns) expect([turn.traceId, turn.parentSpanId]).toEqual([run?.traceId, run?.spanId]);
    expect(collector.bodies.join()).toContain('"docs-bot"');
    for (const secret of [key, "Acme", "Apex"]) expect(collector.bodies.join()).not.toContain(secret);
  } finally {
    await installation.remove();
  }
});

test("calls to forges and models are children of what makes them; faults are marked and passed on", async () => {
  const tracer = await start();
  const answers: Record<string, () => Promise<unknown>> = {
    "https://api.github.test/repos?q=secret": async () => ({ status: 200 }),
    "https://api.github.test/gone": async () => ({ status: 404 }),
    "https://api.github.test/away": async () => Promise.reject(new TypeError("token abc is wrong")),
  };
  const asked = { method: "GET", headers: {}, redirect: "manual", signal: AbortSignal.timeout(60_000) } as const;
  const fetch = traceFetch(tracer, ((url: string) => answers[url]?.()) as unknown as Fetch);
  const stages = traceStages(tracer, {
    async publish(_job: { id: string; projectId: string }) {
      for (const url of Object.keys(answers)) await fetch(url, asked).catch(() => {});
      throw new Error("the forge is away");
    },
  });
  await expect(stages.publish({ id: "job_1", projectId: "prj_1" })).rejects.toThrow("the forge is away");
  await tracer.close();
  const [publish] = named("run publish");
  expect(publish?.status?.code).toBe(2);
  const calls = named("GET api.github.test");
  expect(calls.map((call) => attribute(call, "http.response.status_code"))).toEqual([200, 404, undefined]);
  expect(calls.map((call) => call.status?.code ?? 0)).toEqual([0, 2, 2]);
  for (const call of calls) expect(call.parentSpanId).toBe(publish?.spanId);
  expect(collector.bodies.at(-1)).not.toMatch(/secret|token abc|is away/);
  expect(collector.headers.at(-1)?.["x-team"]).toBe("docs");
});

test("a caller's valid trace is continued, an invalid one is not; without a collector nothing changes", async () => {
  const tracer = await start();
  const about = { kind: "server", attributes: {} } as const;
  tracer.start({ ...about, name: "good", traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` }).end();
  tracer.start({ ...about, name: "bad", traceparent: `00-${"0".repeat(32)}-${"b".repeat(16)}-01` }).end();
  await tracer.close();
  expect(named("good")[0]).toMatchObject({ traceId: "a".repeat(32), parentSpanId: "b".repeat(16) });
  expect(named("bad")[0]?.parentSpanId ?? "").toBe("");
  const [model, fetch, stages] = [{} as Model, (() => {}) as unknown as Fetch, {}];
  expect(traceModel(null, model)).toBe(model);
  expect(traceFetch(null, fetch)).toBe(fetch);
  expect(traceStages(null, stages)).toBe(stages);
});

test("settings are those of every exporter", () => {
  const read = (env: Record<string, string>) => {
    const problems: string[] = [];
    return { settings: readTracingSettings((name) => env[name] ?? null, problems), problems };
  };
  expect(read({}).settings).toBeNull();
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };
  expect(read({ ...base, OTEL_EXPORTER_OTLP_HEADERS: "a=b%20c, authorization=Basic x==" }).settings).toEqual({
    endpoint: "http://collector:4318/v1/traces",
    headers: { a: "b c", authorization: "Basic x==" },
    serviceName: "emend",
    content: false,
  });
  const capture = (value: string) => read({ ...base, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: value });
  expect(["true", "SPAN_ONLY", "NO_CONTENT", "false"].map((value) => capture(value).settings?.content)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(capture("yes").problems).toHaveLength(1);
  expect(read({ ...base, OTEL_TRACES_EXPORTER: "none" }).settings).toBeNull();
  expect(read({ ...base, OTEL_SDK_DISABLED: "true" }).settings).toBeNull();
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" }).problems).toHaveLength(1);
  expect(read({ ...base, OTEL_EXPORTER_OTLP_HEADERS: "a=%zz" }).problems).toHaveLength(1);
});
