import { readFile } from "node:fs/promises";
import { type FarTurn, protocols } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { attributeOf, type CollectedSpan, startCollector } from "@emend/testkit/trace-collector.ts";
import { afterEach, beforeEach, expect, test } from "vitest";

/** The conventions, cut from OpenTelemetry's own pages. */
interface Convention {
  name: string[];
  kind: number;
  required: string[];
  recommended: Record<string, string>;
  optIn: string[];
}
const conventions = JSON.parse(
  await readFile(new URL("../../testkit/src/fixtures/genai-spans.json", import.meta.url), "utf8"),
) as Record<"chat" | "invoke_agent" | "execute_tool", Convention> & {
  providers: string[];
  roles: string[];
  parts: Record<string, string[]>;
  finishReasons: string[];
};

const { install } = useModelProject();
let collector: Awaited<ReturnType<typeof startCollector>>;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.stop());

const secret = "ghp_1A2b3C4d5E6f7G8h9I0jK1L2m3N4o5P6q7R8";
const script = (turn: number): FarTurn =>
  [
    [
      ["read_file", { path: "index.md" }],
      ["read_file", { path: "gone.md" }],
      // Vetting refuses it, so it is not run.
      ["search", { pattern: secret }],
    ] as FarTurn,
    [["edit_file", { path: "index.md", oldText: "minuts", newText: "minutes" }]] as FarTurn,
  ][turn] ?? [["finish", { title: "Fix a misspelling", summary: "The word was misspelt." }]];

async function runJob(model: string, environment: Record<string, string>): Promise<string> {
  const { client, server } = await install(
    script,
    { docs: { "index.md": "# Home\n\nTen minuts.\n" }, settings: { secondReader: false } },
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...environment },
  );
  const { id } = await client.create({ prompt: `Fix the misspelling. ${secret}`, model });
  expect((await client.untilFinal(id)).status).toBe("completed");
  await server.stop();
  return id;
}

const operationOf = (span: CollectedSpan) => attributeOf(span, "gen_ai.operation.name") as keyof typeof conventions;
const ofOperation = (name: string) => collector.spans.filter((span) => operationOf(span) === name);

/** Every span of a model, a tool or an agent has the form that the conventions give it. */
function judge(isContentWanted: boolean): void {
  const spans = collector.spans.filter(({ attributes }) => attributes.some(({ key }) => key.startsWith("gen_ai.")));
  expect(new Set(spans.map(operationOf))).toEqual(new Set(["chat", "invoke_agent", "execute_tool"]));
  for (const span of spans) {
    const convention = conventions[operationOf(span)] as Convention;
    expect(span.name).toBe(convention.name.map((key) => attributeOf(span, key)).join(" "));
    expect(span.kind).toBe(convention.kind);
    const keys = span.attributes.map(({ key }) => key).filter((key) => key.startsWith("gen_ai."));
    expect(keys).toEqual(expect.arrayContaining(convention.required));
    const known = [...convention.required, ...Object.keys(convention.recommended), ...convention.optIn];
    expect(keys.filter((key) => !known.includes(key))).toEqual([]);
    expect(keys.filter((key) => convention.optIn.includes(key)).toSorted()).toEqual(
      isContentWanted ? convention.optIn.toSorted() : [],
    );
    for (const { key, value } of span.attributes) {
      const type = convention.recommended[key];
      if (type !== undefined) expect(Object.keys(value)).toEqual([type]);
    }
    const provider = attributeOf(span, "gen_ai.provider.name");
    if (provider !== undefined) expect(conventions.providers).toContain(provider);
  }
}

test.each(protocols)("%s: agent, model and tools are spans by the conventions, without content", async (model) => {
  const id = await runJob(model, {});
  judge(false);
  const [agent] = ofOperation("invoke_agent");
  const chats = ofOperation("chat");
  const tools = ofOperation("execute_tool");
  expect(chats).toHaveLength(3);
  expect(tools.map((span) => attributeOf(span, "gen_ai.tool.name")).toSorted()).toEqual([
    "edit_file",
    "finish",
    "read_file",
    "read_file",
  ]);
  expect(tools.filter(({ status }) => status?.code === 2)).toHaveLength(1);
  for (const span of [...chats, ...tools]) {
    expect([span.traceId, span.parentSpanId]).toEqual([agent?.traceId, agent?.spanId]);
    expect(attributeOf(span, "gen_ai.conversation.id")).toBe(id);
  }
  expect(chats.map((span) => attributeOf(span, "gen_ai.usage.input_tokens"))).toEqual([1000, 1000, 1000]);
  for (const words of ["minuts", "misspelling", "index.md", secret]) {
    expect(collector.bodies.join()).not.toContain(words);
  }
});

test("content is there if the operator asks for it, without credentials", async () => {
  await runJob(protocols[0], { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" });
  judge(true);
  for (const span of ofOperation("chat")) {
    const input = JSON.parse(String(attributeOf(span, "gen_ai.input.messages")));
    const output = JSON.parse(String(attributeOf(span, "gen_ai.output.messages")));
    for (const { role, parts } of [...input, ...output]) {
      expect(conventions.roles).toContain(role);
      for (const part of parts)
        expect(Object.keys(part)).toEqual(expect.arrayContaining(conventions.parts[part.type] ?? ["?"]));
    }
    expect(JSON.stringify(input)).toContain("Fix the misspelling.");
    for (const { finish_reason } of output) expect(conventions.finishReasons).toContain(finish_reason);
  }
  const results = ofOperation("execute_tool").map((span) => String(attributeOf(span, "gen_ai.tool.call.result")));
  expect(results.join()).toContain("Ten minuts.");
  expect(collector.bodies.join()).not.toContain(secret);
});
