import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Reasoning, ToolCall } from "../agent.ts";

export interface Answer {
  text: string;
  toolCalls: readonly ToolCall[];
  reasoning: readonly Reasoning[];
  usage: LanguageModelV4Usage;
}

/** The stream ended before the vendor said that the answer was whole. */
class StreamCut extends Error {
  constructor() {
    super("the answer was cut off");
    this.name = "StreamCut";
  }
}

const answerCharactersMax = 4_000_000;
/** Models call a dozen tools at once; each call is carried out, stored and shown. */
const toolCallsMax = 500;

/** It would be as long the next time, and be paid for again. */
export class AnswerTooLong extends Error {
  constructor(max: number, of: "characters" | "tool calls" | "bytes" | "bytes without a line break") {
    super(`the answer has more than ${max} ${of}`);
    this.name = "AnswerTooLong";
  }
}

/** Reads an answer to its end. One that is cut off, or never ends, is none: nothing of it is used. */
export async function readAnswer(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  onPart: () => void,
): Promise<Answer> {
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
    onPart();
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
        if (part.finishReason.unified === "interrupted" || part.finishReason.unified === "error") throw new StreamCut();
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

/** A far end may say anything: what is no count counts as none, so that no answer gives back what others have used. */
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

/** What is no JSON stays as it came: the tool then says what it takes. */
function parseInput(input: string): unknown {
  if (input.trim() === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Calls are told apart by their ids, whatever the model did with them. */
function withOwnIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const id = call.id === "" || seen.has(call.id) ? `${call.id || "call"}_${index}` : call.id;
    seen.add(id);
    return { ...call, id };
  });
}
