import type { Message, Step, ToolCall, ToolDescription } from "./agent.ts";

/** Past this share of its window a model gets worse, and soon refuses. */
const fullShare = 0.7;
/** Turns whose answers stay whole: what was read in them is being worked with. */
const recentSteps = 3;
const shortCharactersMax = 400;
const promptCharactersMax = 20_000;
/** What one turn's tools may answer together: the newest turn is never shortened, so it must fit as it is. */
const turnShare = 0.35;
const outputShare = 0.1;
/** English has more bytes a token, code and other scripts have fewer: never less than this. */
const bytesPerToken = 3;

/**
 * The conversation without the contents of what was read and written long ago, once the model's window is nearly full.
 * The cut moves only when a turn was that large, so that between two cuts the vendor's cache still fits; it follows
 * from the stored steps, so that a run on another node sends the same. The newest turn stays whole.
 */
export function compact(
  conversation: readonly Message[],
  steps: readonly Step[],
  contextTokensMax = Number.POSITIVE_INFINITY,
  fixedTokens = 0,
): readonly Message[] {
  const room = contextTokensMax * (1 - outputShare) - fixedTokens;
  const ends = stepEnds(conversation, steps);
  let shown = shortenBefore(conversation, usualCut(steps, ends, contextTokensMax));
  // No request is larger than the window: ever more of what is old goes, but for the newest turn.
  for (let kept = recentSteps; tokensOf(shown) > room && kept >= 1; kept -= 1) {
    shown = shortenBefore(conversation, ends.at(-kept - 1) ?? 0);
  }
  return shown;
}

/** What a request holds, estimated so that it is rather too much. */
export function tokensOf(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / bytesPerToken);
}

/** Of a request without its messages. */
export function fixedTokensOf(system: string, tools: readonly ToolDescription[]): number {
  return tokensOf([system, tools]);
}

/** How much each of a turn's calls may answer. */
export function outputBytesFor(calls: number, bytesMax: number, contextTokensMax = Number.POSITIVE_INFINITY): number {
  const share = Math.floor((contextTokensMax * turnShare * bytesPerToken) / Math.max(1, calls));
  return Math.max(600, Math.min(bytesMax, share));
}

/** Where each step's messages end in the conversation. */
function stepEnds(conversation: readonly Message[], steps: readonly Step[]): readonly number[] {
  const ends: number[] = [];
  let from = 0;
  for (const { messages } of steps) {
    // Follow-ups stand between the steps that they came after.
    const first = messages[0];
    const at = first === undefined ? from : conversation.indexOf(first, from);
    from = (at === -1 ? from : at) + messages.length;
    ends.push(from);
  }
  return ends;
}

function usualCut(steps: readonly Step[], ends: readonly number[], contextTokensMax: number): number {
  let cut = 0;
  for (const [index, { usage }] of steps.entries()) {
    if (usage.inputTokens + usage.outputTokens > contextTokensMax * fullShare) cut = ends[index - recentSteps] ?? 0;
  }
  return cut;
}

function shortenBefore(conversation: readonly Message[], cut: number): readonly Message[] {
  if (cut === 0) return conversation;
  return conversation.map((message, index) => (index < cut ? shorten(message) : message));
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
  return { ...call, input: shortenValue(call.input) };
}

function shortenValue(value: unknown): unknown {
  if (typeof value === "string") return cutText(value, shortCharactersMax);
  if (Array.isArray(value)) return value.map(shortenValue);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortenValue(inner)]));
}

function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${text.slice(0, charactersMax).toWellFormed()}\n… left out to save room; ask again where it is needed`;
}
