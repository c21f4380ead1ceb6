import { expect, test } from "vitest";
import type { AgentTask, Model, Step } from "./agent.ts";
import { evidenceOf } from "./evidence.ts";
import { excerptsFor } from "./excerpts.ts";
import { asked } from "./tools/ask.ts";

const usage = { model: "m", inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };

const noFiles = { list: async () => [], read: async () => null };

/** What counts as read after one call with this answer. */
async function readOf(name: string, input: unknown, output: string): Promise<string> {
  const steps: Step[] = [
    {
      number: 1,
      usage,
      messages: [
        { role: "assistant", text: "", toolCalls: [{ id: "1", name, input }] },
        { role: "tool", callId: "1", name, output, isError: false },
      ],
    },
  ];
  const model = { name: "m", nature: "language" } as Model;
  const task = { prompt: "", docsDir: "", steps, base: noFiles } as unknown as AgentTask;
  const evidence = await evidenceOf(
    { model },
    task,
    { kind: "finished", title: "", summary: "" },
    AbortSignal.timeout(1_000),
  );
  return (evidence?.log ?? []).map(({ text }) => text).join("\n");
}

test("what tools add to a file's text witnesses nothing: line numbers, counts and what was not found", async () => {
  expect(await readOf("read_file", { paths: ["a.md"] }, "a.md (32 lines)\n17\tSays 5.\n18\t")).toBe("a.md\nSays 5.\n");
  expect(
    await readOf(
      "read_file",
      { paths: ["a.md", "MINT_X"] },
      '== a.md (lines 7-7 of 9)\n7\tSays.\n== MINT_X: no "MINT_X"',
    ),
  ).toBe("a.md\nSays.\n");
  expect(await readOf("search", { pattern: "x" }, "14 matches in 1 file\na.md\n19: x is 5\n20: (code) y\n21- z")).toBe(
    "\na.md\nx is 5\ny\nz",
  );
  expect(await readOf("git", { log: "MINT_X" }, "none of the newest commits touched MINT_X")).toBe("");
  expect(await readOf("git", { diff: "MINT_X" }, "MINT_X is not edited")).toBe("");
});

test("attachments, guidance, answers with their questions and what writing tools say are evidence", async () => {
  const call = (name: string, input: unknown, output: string): Step["messages"] => [
    { role: "assistant", text: "", toolCalls: [{ id: name, name, input }] },
    { role: "tool", callId: name, name, output, isError: false },
  ];
  const steps: Step[] = [
    { number: 1, usage, messages: call("replace_term", { from: "a", to: "b" }, "replaced 14 places in 3 files") },
    { number: 2, usage, messages: call("notes__search", { query: "limits" }, "The limit is 40.") },
    { number: 3, usage, messages: call("ask", { question: "Is it 3 or 4?" }, asked) },
    { number: 4, usage, messages: [{ role: "user", from: "interjection", text: "It is 4." }] },
    { number: 5, usage, messages: [{ role: "user", from: "interjection", text: "And hurry." }] },
  ];
  const base = {
    list: async () => [{ path: "AGENTS.md" }],
    read: async (path: string) => (path === "AGENTS.md" ? Buffer.from("Say sign in.") : null),
  };
  const task = { prompt: "Go", docsDir: "", steps, base } as unknown as AgentTask;
  const plan = {
    id: "upload_1",
    name: "plan.pdf",
    type: "application/pdf",
    picture: null,
    text: "Refunds take 14 days.",
  };
  const evidence = await evidenceOf(
    { model: { name: "m", nature: "language" } as Model, attachments: async () => [plan] },
    task,
    { kind: "finished", title: "", summary: "" },
    AbortSignal.timeout(1_000),
  );
  expect(evidence?.asked).toEqual(["Go", "Question: Is it 3 or 4?\nAnswer: It is 4.", "And hurry."]);
  expect(evidence?.log?.filter(({ kind }) => kind === "read")).toEqual([
    { kind: "read", from: "plan.pdf", text: "Refunds take 14 days." },
    { kind: "read", from: "AGENTS.md", text: "Say sign in." },
    { kind: "read", from: "replace_term", text: "replaced 14 places in 3 files" },
    { kind: "read", from: "notes__search limits", text: "The limit is 40." },
    expect.objectContaining({ from: "ask Is it 3 or 4?" }),
  ]);
});

test("of what was read the lines that a change speaks of are shown first, and a cut is marked", () => {
  const noise = Array.from({ length: 200 }, (_, index) => `line ${index} of other things`).join("\n");
  const log = [
    { kind: "read" as const, from: "read_file a.py", text: `${noise}\nkeepalive_expiry = 5.0\n${noise}` },
    { kind: "wrote" as const, text: "keepalive_expiry is 5 minutes" },
    { kind: "read" as const, from: "read_file page.md", text: "So keepalive_expiry is 5 minutes." },
  ];
  expect(excerptsFor("+keepalive_expiry is 5 minutes", log, 90)).toEqual([
    { from: "read_file a.py", text: "…\nline 199 of other things\nkeepalive_expiry = 5.0\nline 0 of other things\n…" },
  ]);
});
