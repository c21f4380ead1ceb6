import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { JSONSchema7, LanguageModelV4 } from "@ai-sdk/provider";
import type { AppError } from "../../errors.ts";
import type { Model } from "../agent.ts";
import { modelFault } from "./model-fault.ts";
import { costUsd, type ModelFacts } from "./prices.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { toPrompt } from "./to-prompt.ts";
import type { Vendor } from "./vendor.ts";

export interface Patience {
  triesMax: number;
  firstPauseMs: number;
  /** A vendor that asks for more is left to a later run, so that no worker waits for it. */
  pauseMsMax: number;
  /** Between two parts of an answer. */
  silenceMsMax: number;
}

export const usualPatience: Patience = {
  triesMax: 4,
  firstPauseMs: 1_000,
  pauseMsMax: 60_000,
  silenceMsMax: 300_000,
};

export interface SdkModelInput {
  /** `vendor/model`, as it was asked for. */
  name: string;
  vendor: Vendor;
  language: LanguageModelV4;
  facts: ModelFacts;
  /** Never to be shown. */
  apiKey: string | null;
  patience: Patience;
}

type TurnInput = Parameters<Model["nextTurn"]>[0];

/** A language model behind the loop, by whatever protocol its vendor speaks. */
export function createSdkModel(input: SdkModelInput): Model {
  const { name, facts } = input;
  return {
    name,
    nature: "language",
    contextTokensMax: facts.contextTokens,
    async nextTurn(turn, signal) {
      const answer = await askPatiently(input, turn, signal);
      const { inputTokens, outputTokens } = answer.usage;
      return {
        text: answer.text,
        toolCalls: answer.toolCalls,
        reasoning: answer.reasoning,
        usage: {
          model: name,
          inputTokens: inputTokens.total ?? 0,
          outputTokens: outputTokens.total ?? 0,
          cachedInputTokens: inputTokens.cacheRead ?? 0,
          costUsd: costUsd(facts, answer.usage),
        },
      };
    },
  };
}

/** Asks again while the fault may pass, with growing pauses, and never before the vendor said. */
async function askPatiently(input: SdkModelInput, turn: TurnInput, signal: AbortSignal): Promise<Answer> {
  const { patience } = input;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask(input, turn, signal);
    } catch (error) {
      signal.throwIfAborted();
      const fault = modelFault(input.name, error, input.apiKey);
      const pauseMs = pauseBefore(fault, patience, attempt);
      if (pauseMs === null) throw fault;
      await pause(pauseMs, undefined, { signal });
    }
  }
}

function pauseBefore(fault: AppError, patience: Patience, attempt: number): number | null {
  if (!fault.retryable || attempt >= patience.triesMax) return null;
  const growing = patience.firstPauseMs * 2 ** (attempt - 1) * (0.8 + Math.random() * 0.4);
  const pauseMs = Math.max(growing, fault.retryAfterMs ?? 0);
  return pauseMs <= patience.pauseMsMax ? pauseMs : null;
}

async function ask(input: SdkModelInput, turn: TurnInput, signal: AbortSignal): Promise<Answer> {
  const { vendor, language, patience } = input;
  const silence = new AbortController();
  const clock = setTimeout(() => silence.abort(new Error("nothing was heard for too long")), patience.silenceMsMax);
  try {
    const cacheKey = hash("sha256", turn.system, "hex").slice(0, 32);
    const { stream } = await language.doStream({
      prompt: toPrompt(vendor, turn.system, turn.messages),
      tools: turn.tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        name,
        description,
        inputSchema: inputSchema as JSONSchema7,
      })),
      toolChoice: { type: "auto" },
      abortSignal: AbortSignal.any([signal, silence.signal]),
      ...(vendor.outputTokensMax !== undefined && { maxOutputTokens: vendor.outputTokensMax }),
      ...(vendor.options && { providerOptions: vendor.options(cacheKey) }),
    });
    return await readAnswer(stream, () => clock.refresh());
  } finally {
    clearTimeout(clock);
    // An answer that was given up on must not go on arriving.
    silence.abort();
  }
}
