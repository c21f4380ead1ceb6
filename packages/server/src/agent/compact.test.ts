import { expect, test } from "vitest";
import type { Message, Step } from "./agent.ts";
import { compact } from "./compact.ts";
import { conversationOf } from "./conversation.ts";

const page = "a long page ".repeat(1_000);

function stepsOf(count: number, inputTokens: number): Step[] {
  return Array.from({ length: count }, (_, index): Step => {
    const call = { id: `c${index}`, name: "read_file", input: { path: `${index}.md` } };
    return {
      number: index + 1,
      messages: [
        { role: "assistant", text: "", toolCalls: [call] },
        { role: "tool", callId: call.id, name: call.name, output: page, isError: false },
      ],
      usage: { model: "m", inputTokens, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 },
    };
  });
}
const outputs = (messages: readonly Message[]) =>
  messages.flatMap((said) => (said.role === "tool" ? [said.output] : []));

test("near the window old outputs are left out, and what is recent stays whole", () => {
  const steps = stepsOf(10, 90_000);
  const conversation = conversationOf({ prompt: "Do it" }, steps);
  const shown = compact(conversation, steps, 100_000);
  expect(shown).toHaveLength(conversation.length);
  expect(shown[0]).toEqual({ role: "user", text: "Do it" });
  expect(
    outputs(shown)
      .slice(0, 6)
      .every((output) => output.length < 500 && output.includes("left out")),
  ).toBe(true);
  expect(
    outputs(shown)
      .slice(6)
      .every((output) => output === page),
  ).toBe(true);
});

test("with room left nothing is touched, so that the vendor's cache fits", () => {
  const steps = stepsOf(10, 60_000);
  const conversation = conversationOf({ prompt: "Do it" }, steps);
  expect(compact(conversation, steps, 100_000)).toBe(conversation);
  expect(compact(conversation, stepsOf(10, 9e9), undefined)).toBe(conversation);
});
