import { expect, test } from "vitest";
import { describeStep } from "./recorder.ts";

const usage = { model: "m", inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, costUsd: 0 };

test("those who watch see which tools were used on what, and none of the contents", () => {
  const content = "secret ".repeat(100);
  const toolCalls = [
    { id: "1", name: "write_file", input: { path: "docs/a.md", content } },
    { id: "2", name: "read_file", input: { paths: ["docs/none.md"], lines: [1, 2], texts: [content] } },
    { id: "3", name: "finish", input: null },
  ];
  const described = describeStep({
    number: 4,
    usage,
    messages: [
      { role: "user", text: content, from: "review" },
      { role: "assistant", text: content, toolCalls },
      { role: "tool", callId: "1", name: "write_file", output: content, isError: false },
      { role: "tool", callId: "2", name: "read_file", output: content, isError: true },
    ],
  });
  expect(described).toMatchObject({
    number: 4,
    model: "m",
    tools: [
      { name: "write_file", input: { path: "docs/a.md", content: "700 characters" }, ok: true },
      { name: "read_file", input: { paths: ["docs/none.md"] }, ok: false },
      { name: "finish", input: {}, ok: true },
    ],
  });
  expect(JSON.stringify(described).length).toBeLessThan(600);
});
