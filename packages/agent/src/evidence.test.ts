import { expect, test } from "vitest";
import type { AgentTask, Model, Step } from "./agent.ts";
import { evidenceOf } from "./evidence.ts";

const usage = { model: "m", inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };

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
  const task = { prompt: "", steps } as unknown as AgentTask;
  const evidence = await evidenceOf(
    model,
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
