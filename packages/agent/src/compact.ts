import type { Message, Step, ToolCall, ToolDescription } from "./agent.ts";

/** Beyond this share of its context window, a model's answers get worse. */
const fullShare = 0.7;
/** What is left after a cut, if the recent turns allow it. */
const roomyShare = 0.4;
/** The results of the newest turns stay complete, because the model is using them. */
const recentSteps = 3;
const shortCharactersMax = 400;
const promptCharactersMax = 20_000;
/** The limit for all results of one turn. The newest turn is never shortened, so it must fit. */
const turnShare = 0.35;
const outputShare = 0.1;
/** English has more bytes per token; code and other scripts have fewer, but never less than this. */
const bytesPerToken = 3;

/**
 * Removes old tool results once the context window is nearly full. The cut moves rarely and far, so that the vendor's
 * prompt cache stays valid in between. It depends only on the stored steps, so a run on another node sends the same. The
 * newest turn stays complete.
 */
export function compact(
  conversation: readonly Message[],
  steps: readonly Step[],
  contextTokensMax = Number.POSITIVE_INFINITY,
  fixedTokens = 0,
): readonly Message[] {
  if (contextTokensMax === Number.POSITIVE_INFINITY) return conversation;
  const ends = stepEnds(conversation, steps);
  const sizeOf = measured(conversation, fixedTokens);
  let cut = 0;
  for (const [index, { usage }] of steps.entries()) {
    const end = index === steps.length - 1 ? conversation.length : (ends[index] ?? 0);
    const estimated = sizeOf(end, cut);
    const real = Math.max(estimated, usage.inputTokens + usage.outputTokens);
    const goal = contextTokensMax * roomyShare;
    if (real > contextTokensMax * fullShare) {
      const recent = ends.slice(0, Math.max(0, index + 1 - recentSteps));
      cut = cutUntil(recent, cut, (at) => sizeOf(end, at) * (real / estimated) <= goal);
    }
    // No request exceeds the window.
    if (sizeOf(end, cut) > contextTokensMax * (1 - outputShare)) {
      cut = cutUntil(ends.slice(0, index), cut, (at) => sizeOf(end, at) <= goal);
    }
  }
  return shortenBefore(conversation, cut);
}

/** The first of these places after `cut` that fits, or the last one. */
function cutUntil(places: readonly number[], cut: number, fits: (at: number) => boolean): number {
  const later = places.filter((at) => at > cut);
  return later.find(fits) ?? later.at(-1) ?? cut;
}

/** The tokens of a conversation up to `end`, shortened before `cut`. */
function measured(conversation: readonly Message[], fixedTokens: number): (end: number, cut: number) => number {
  const sums = (messages: readonly Message[]) => {
    let sum = 0;
    return [
      0,
      ...messages.map((message) => {
        sum += tokensOf(message);
        return sum;
      }),
    ];
  };
  const whole = sums(conversation);
  const short = sums(conversation.map(shorten));
  return (end, cut) => fixedTokens + (short[cut] ?? 0) + (whole[end] ?? 0) - (whole[cut] ?? 0);
}

/** Estimates the tokens of a request, rather too high. */
export function tokensOf(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / bytesPerToken);
}

/** The tokens of a request without its messages. */
export function fixedTokensOf(system: string, tools: readonly ToolDescription[]): number {
  return tokensOf([system, tools]);
}

/** The output limit for each call of a turn. */
export function outputBytesFor(calls: number, bytesMax: number, contextTokensMax = Number.POSITIVE_INFINITY): number {
  const share = Math.floor((contextTokensMax * turnShare * bytesPerToken) / Math.max(1, calls));
  return Math.max(600, Math.min(bytesMax, share));
}

/** The index in the conversation at which each step's messages end. */
function stepEnds(conversation: readonly Message[], steps: readonly Step[]): readonly number[] {
  const ends: number[] = [];
  let from = 0;
  for (const { messages } of steps) {
    // Follow-ups are between the steps that they came after.
    const first = messages[0];
    const at = first === undefined ? from : conversation.indexOf(first, from);
    from = (at === -1 ? from : at) + messages.length;
    ends.push(from);
  }
  return ends;
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
      // Signed reasoning must be complete or absent.
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
