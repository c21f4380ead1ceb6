import type { Step } from "../agent/agent.ts";

const textMax = 200;
const valueMax = 120;

/** A step in short, for those who watch a job: what was said and which tools were used, without their contents. */
export function describeStep(step: Step): unknown {
  const said = step.messages.flatMap((message) => (message.role === "assistant" ? [message] : []));
  const failed = new Set(
    step.messages.flatMap((message) => (message.role === "tool" && message.isError ? [message.callId] : [])),
  );
  return {
    number: step.number,
    model: step.usage.model,
    text: shorten(said.map((message) => message.text).join("\n"), textMax),
    tools: said
      .flatMap((message) => message.toolCalls)
      .map((call) => ({ name: call.name, input: describeInput(call.input), ok: !failed.has(call.id) })),
  };
}

/** Paths, terms and flags as they are; longer texts are contents and only named by their length. */
function describeInput(input: unknown): unknown {
  if (input === null || typeof input !== "object") return {};
  return Object.fromEntries(Object.entries(input).flatMap(([key, value]) => describeValue(key, value)));
}

function describeValue(key: string, value: unknown): [string, unknown][] {
  if (typeof value === "number" || typeof value === "boolean") return [[key, value]];
  if (typeof value !== "string") return [];
  return value.length <= valueMax ? [[key, value]] : [[key, `${value.length} characters`]];
}

function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
