import { Automation, Gate, Health } from "@emend/contract";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import type { ToolDeps } from "../src/tool-call.ts";
import { registerTools } from "../src/tools.ts";

/** The API reference's examples, for results that a test cannot easily get from a server. */
const exampleOf = (schema: object) => (schema as { examples: object[] }).examples[0] as object;
const automation = exampleOf(Automation);
const health = exampleOf(Health);
const gate = { ...exampleOf(Gate), findings: (health as Health).findings };
const run = { id: "arn_1", state: "started", words: "It started a job.", jobId: "job_1" };
const deps = {
  project: "prj_1",
  gates: () => ({ list: async () => [exampleOf(Gate)], get: async () => gate, look: async () => gate }),
  health: async () => health,
  automations: () => ({
    list: async () => [automation],
    create: async () => automation,
    edit: async () => automation,
    run: async () => run,
    remove: async () => automation,
  }),
} as unknown as ToolDeps;

test.each([
  ["list_gates", {}],
  ["get_gate", { id: "gat_1" }],
  ["check_gate_again", { id: "gat_1" }],
  ["get_health", {}],
  ["list_automations", {}],
  ["create_automation", { preset: "links" }],
  ["edit_automation", { id: "aut_1", paused: true }],
  ["run_automation", { id: "aut_1" }],
  ["remove_automation", { id: "aut_1" }],
])("a result of %s fits its schema", async (name, input) => {
  const server = new McpServer({ name: "emend", version: "0.1.0" });
  registerTools(server, deps);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  try {
    // The client then compares each result with its tool's schema.
    await client.listTools();
    const result = await client.callTool({ name, arguments: input });
    expect(result).toMatchObject({ structuredContent: expect.any(Object) });
    expect(result.isError).toBeUndefined();
  } finally {
    await client.close();
  }
});
