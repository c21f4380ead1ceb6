import type { Message, Step, ToolCall } from "./agent.ts";

/** Past this share of its window a model gets worse, and soon refuses. */
const fullShare = 0.7;
const recentMessages = 8;
const shortCharactersMax = 400;
const promptCharactersMax = 20_000;

/**
 * The conversation without the contents of what was read and written long ago, once the model's window is nearly full.
 * The cut moves only when a turn was that large, so that between two cuts the vendor's cache still fits; it follows
 * from the stored steps, so that a run on another node sends the same.
 */
export function compact(
  conversation: readonly Message[],
  steps: readonly Step[],
  contextTokensMax: number | undefined,
): readonly Message[] {
  const cut = cutAt(conversation, steps, contextTokensMax);
  if (cut === 0) return conversation;
  return conversation.map((message, index) => (index < cut ? shorten(message) : message));
}

function cutAt(
  conversation: readonly Message[],
  steps: readonly Step[],
  contextTokensMax = Number.POSITIVE_INFINITY,
): number {
  let end = conversation.length - steps.reduce((sum, step) => sum + step.messages.length, 0);
  let cut = 0;
  for (const step of steps) {
    end += step.messages.length;
    const tokens = step.usage.inputTokens + step.usage.outputTokens;
    if (tokens > contextTokensMax * fullShare) cut = Math.max(0, end - recentMessages);
  }
  return cut;
}

function shorten(message: Message): Message {
  switch (message.role) {
    case "user":
      return { ...message, text: cutText(message.text, promptCharactersMax) };
    case "tool":
      return { ...message, output: cutText(message.output, shortCharactersMax) };
    case "assistant":
      // Thoughts are signed as they are: whole or not at all.
      return { role: "assistant", text: message.text, toolCalls: message.toolCalls.map(shortenCall) };
  }
}

function shortenCall(call: ToolCall): ToolCall {
  if (call.input === null || typeof call.input !== "object") return call;
  const input = Object.entries(call.input).map(([key, value]) => [
    key,
    typeof value === "string" ? cutText(value, shortCharactersMax) : value,
  ]);
  return { ...call, input: Object.fromEntries(input) };
}

function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${text.slice(0, charactersMax).toWellFormed()}\n… left out to save room; ask again where it is needed`;
}
