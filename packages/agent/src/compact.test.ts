import { expect, test } from "vitest";
import type { Message, Step } from "./agent.ts";
import { compact, outputBytesFor, tokensOf } from "./compact.ts";
import { conversationOf } from "./outcome.ts";

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
      .slice(0, 7)
      .every((output) => output.length < 500 && output.includes("left out")),
  ).toBe(true);
  expect(
    outputs(shown)
      .slice(7)
      .every((output) => output === page),
  ).toBe(true);
});

test("with room left nothing is touched, so that the vendor's cache fits", () => {
  const steps = stepsOf(10, 60_000);
  const conversation = conversationOf({ prompt: "Do it" }, steps);
  expect(compact(conversation, steps, 100_000)).toBe(conversation);
  expect(compact(conversation, stepsOf(10, 9e9), undefined)).toBe(conversation);
});

test("the newest turn stays whole, however many calls it made", () => {
  const [first] = stepsOf(1, 90_000);
  const calls = Array.from({ length: 12 }, (_, index) => ({ id: `p${index}`, name: "read_file", input: {} }));
  const newest: Step = {
    number: 2,
    messages: [
      { role: "assistant", text: "", toolCalls: calls },
      ...calls.map(({ id, name }): Message => ({ role: "tool", callId: id, name, output: page, isError: false })),
    ],
    usage: { model: "m", inputTokens: 90_000, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 },
  };
  const steps = [first as Step, newest];
  for (const contextTokensMax of [100_000, 20_000]) {
    const shown = compact(conversationOf({ prompt: "Do it" }, steps), steps, contextTokensMax);
    expect(outputs(shown).slice(1)).toEqual(calls.map(() => page));
  }
});

test("no request is larger than the window: what is old goes first, the newest turn never", () => {
  // No turn has reported its size yet.
  const steps = stepsOf(10, 0);
  const conversation = conversationOf({ prompt: "Do it" }, steps);
  const shown = compact(conversation, steps, 12_000, 1_000);
  expect(tokensOf(shown)).toBeLessThan(11_000);
  expect(outputs(shown).at(-1)).toBe(page);
  expect(outputs(shown)[0]).toContain("left out");
});

test("the cut moves in steps, so that most turns find their beginning in the vendor's cache", () => {
  const cuts = Array.from({ length: 40 }, (_, turns) => {
    const steps = stepsOf(turns + 1, 0);
    const shown = outputs(compact(conversationOf({ prompt: "Do it" }, steps), steps, 60_000));
    return shown.indexOf(page);
  });
  expect(cuts.at(-1)).toBeGreaterThan(20);
  expect(new Set(cuts).size).toBeLessThan(40 / 4);
});

test("what the calls of one turn may answer fits the window, however many they are", () => {
  for (const calls of [1, 5, 20]) {
    const bytes = calls * outputBytesFor(calls, 32_000, 32_000);
    expect(bytes / 3).toBeLessThan(32_000 * 0.36);
  }
  expect(outputBytesFor(3, 32_000, undefined)).toBe(32_000);
});
