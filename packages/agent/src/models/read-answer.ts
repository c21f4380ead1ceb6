import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Reasoning, ToolCall } from "../agent.ts";

export interface Answer {
  text: string;
  toolCalls: readonly ToolCall[];
  reasoning: readonly Reasoning[];
  usage: LanguageModelV4Usage;
}

/** The stream ended before the response was complete. */
class StreamCut extends Error {
  constructor() {
    super("the answer was cut off");
    this.name = "StreamCut";
  }
}

const answerCharactersMax = 4_000_000;
/** Models make a dozen calls at a time. Each call is run, stored and shown. */
const toolCallsMax = 500;

/** Not retried: the next response would be as long, and cost as much. */
export class AnswerTooLong extends Error {
  constructor(max: number, of: "characters" | "tool calls" | "bytes" | "bytes without a line break") {
    super(`the answer has more than ${max} ${of}`);
    this.name = "AnswerTooLong";
  }
}

/** Reads a response to its end. A truncated or endless response is discarded. */
export async function readAnswer(stream: ReadableStream<LanguageModelV4StreamPart>): Promise<Answer> {
  const texts: string[] = [];
  const thoughts = new Map<string, Reasoning>();
  const toolCalls: ToolCall[] = [];
  let usage: LanguageModelV4Usage | undefined;
  let characters = 0;
  const grow = (by: number) => {
    characters += by;
    if (characters > answerCharactersMax) throw new AnswerTooLong(answerCharactersMax, "characters");
  };
  for await (const part of stream) {
    switch (part.type) {
      case "text-delta":
        grow(part.delta.length);
        texts.push(part.delta);
        break;
      case "tool-input-delta":
        grow(part.delta.length);
        break;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end": {
        const earlier = thoughts.get(part.id) ?? { text: "" };
        const delta = part.type === "reasoning-delta" ? part.delta : "";
        grow(delta.length);
        const metadata = part.providerMetadata ?? earlier.metadata;
        thoughts.set(part.id, { text: earlier.text + delta, ...(metadata && { metadata }) });
        break;
      }
      case "tool-call":
        grow(part.toolName.length + part.toolCallId.length);
        if (toolCalls.length >= toolCallsMax) throw new AnswerTooLong(toolCallsMax, "tool calls");
        toolCalls.push({
          id: part.toolCallId,
          name: part.toolName,
          input: parseInput(part.input),
          ...(part.providerMetadata && { metadata: part.providerMetadata }),
        });
        break;
      case "error":
        throw part.error;
      case "finish":
        if (isCut(part.finishReason)) throw new StreamCut();
        usage = countable(part.usage);
        break;
      default:
        break;
    }
  }
  if (!usage) throw new StreamCut();
  const reasoning = [...thoughts.values()].filter((thought) => thought.metadata !== undefined);
  return { text: texts.join(""), toolCalls: withOwnIds(toolCalls), reasoning, usage };
}

/** Some clients report a stream that ended without its last event as "other", without a reason of the vendor. */
function isCut({ unified, raw }: LanguageModelV4FinishReason): boolean {
  return unified === "interrupted" || unified === "error" || (unified === "other" && raw === undefined);
}

/** A server may send anything. Invalid counts become zero, so that no response lowers the total. */
function countable({ inputTokens, outputTokens }: LanguageModelV4Usage): LanguageModelV4Usage {
  return { inputTokens: counts(inputTokens), outputTokens: counts(outputTokens) };
}

function counts<T extends Record<string, number | undefined>>(tokens: T): T {
  const isCount = (value: number | undefined) => value !== undefined && Number.isFinite(value) && value > 0;
  const entries = Object.entries(tokens).map(([name, value]) => [
    name,
    isCount(value) ? Math.ceil(value as number) : 0,
  ]);
  return Object.fromEntries(entries) as T;
}

/** No tool takes more than five levels. Whatever walks through input may do so by recursion. */
const levelsMax = 50;

/** Input that is not JSON stays as it is; the tool's validation then explains what it accepts. */
function parseInput(input: string): unknown {
  if (input.trim() === "") return {};
  if (isNestedDeeper(input, levelsMax)) return `[left out: arguments of more than ${levelsMax} levels]`;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Counts the open brackets outside of strings. */
function isNestedDeeper(json: string, levels: number): boolean {
  let open = 0;
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (part === "[" || part === "{") open += 1;
    else if (part === "]" || part === "}") open -= 1;
    if (open > levels) return true;
  }
  return false;
}

/** Makes call ids unique. */
function withOwnIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const id = call.id === "" || seen.has(call.id) ? `${call.id || "call"}_${index}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
}
