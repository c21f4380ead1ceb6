import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { ModelVendor } from "@emend/contract";

/** US dollars per million tokens, and the context window. */
export interface ModelFacts {
  input: number;
  output: number;
  /** Tokens read from the vendor's cache. Absent: the input price. */
  cachedInput?: number;
  /** Tokens written to the vendor's cache. Absent: the input price. */
  cacheWrite?: number;
  contextTokens: number;
}

/** By the prefix of a model's name; the longest match counts. EMEND_MODEL_PRICES adds to it. */
export type PriceTable = Readonly<Record<string, ModelFacts>>;

const opus: ModelFacts = { input: 5, output: 25, cachedInput: 0.5, cacheWrite: 6.25, contextTokens: 200_000 };
const dearestOpenai: ModelFacts = { input: 30, output: 180, contextTokens: 200_000 };

/**
 * List prices. Anthropic's Opus, Fable and Mythos were read on its pricing page (2026-11); OpenAI's in tables that others
 * made of its page; the rest, Google's among them, is older knowledge or a cautious guess. An operator who must be exact
 * sets a table. A model that is not listed is charged like its vendor's dearest, and one of a family of which only a part
 * is known like that part's dearest: a limit then stops too early rather than too late.
 */
const listPrices: PriceTable & Readonly<Record<`${ModelVendor}/`, ModelFacts>> = {
  "anthropic/": { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75, contextTokens: 200_000 },
  "anthropic/claude-fable": { input: 10, output: 50, cachedInput: 1, cacheWrite: 12.5, contextTokens: 200_000 },
  "anthropic/claude-mythos": { input: 10, output: 50, cachedInput: 1, cacheWrite: 12.5, contextTokens: 200_000 },
  "anthropic/claude-opus-5": opus,
  "anthropic/claude-opus-4-8": opus,
  "anthropic/claude-opus-4-7": opus,
  "anthropic/claude-opus-4-6": opus,
  "anthropic/claude-opus-4-5": opus,
  "anthropic/claude-sonnet": { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75, contextTokens: 200_000 },
  "anthropic/claude-haiku": { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25, contextTokens: 200_000 },
  "openai/": dearestOpenai,
  "openai/gpt-5": { input: 1.25, output: 10, cachedInput: 0.125, contextTokens: 400_000 },
  // Later versions cost more, each by a different amount.
  "openai/gpt-5.": { input: 5, output: 30, cachedInput: 0.5, contextTokens: 400_000 },
  "openai/gpt-5.1": { input: 1.25, output: 10, cachedInput: 0.125, contextTokens: 400_000 },
  "openai/gpt-5.2": { input: 1.75, output: 14, cachedInput: 0.175, contextTokens: 400_000 },
  "openai/gpt-5.4": { input: 2.5, output: 15, cachedInput: 0.25, contextTokens: 400_000 },
  "openai/gpt-5.4-mini": { input: 0.75, output: 4.5, cachedInput: 0.075, contextTokens: 400_000 },
  // At least ten times the price of their families.
  "openai/gpt-5-pro": dearestOpenai,
  "openai/gpt-5.2-pro": dearestOpenai,
  "openai/gpt-5.4-pro": dearestOpenai,
  "openai/gpt-5.5-pro": dearestOpenai,
  "openai/gpt-5-mini": { input: 0.25, output: 2, cachedInput: 0.025, contextTokens: 400_000 },
  "openai/gpt-5-nano": { input: 0.05, output: 0.4, cachedInput: 0.005, contextTokens: 400_000 },
  "openai/gpt-4.1": { input: 2, output: 8, cachedInput: 0.5, contextTokens: 1_000_000 },
  "openai/gpt-4.1-mini": { input: 0.4, output: 1.6, cachedInput: 0.1, contextTokens: 1_000_000 },
  "google/": { input: 4, output: 18, cachedInput: 0.4, contextTokens: 1_000_000 },
  "google/gemini-2.5-pro": { input: 1.25, output: 10, cachedInput: 0.125, contextTokens: 1_000_000 },
  "google/gemini-2.5-flash": { input: 0.3, output: 2.5, cachedInput: 0.03, contextTokens: 1_000_000 },
  "google/gemini-3-pro": { input: 2, output: 12, cachedInput: 0.2, contextTokens: 1_000_000 },
  // A model of a known maker has its maker's price: see `listedName`.
  "bedrock/": { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75, contextTokens: 200_000 },
  "vertex/": { input: 15, output: 75, cachedInput: 1.5, cacheWrite: 18.75, contextTokens: 200_000 },
  "azure/": dearestOpenai,
  // Self-hosted: free. The context window is set with EMEND_COMPATIBLE_CONTEXT_TOKENS.
  "compatible/": { input: 0, output: 0, contextTokens: 128_000 },
};

const unknown: ModelFacts = { input: 0, output: 0, contextTokens: 128_000 };

export function factsOf(name: string, overrides: PriceTable = {}): ModelFacts {
  const table: PriceTable = { ...listPrices, ...overrides };
  return longestMatch(overrides, name) ?? longestMatch(table, listedName(name)) ?? unknown;
}

function longestMatch(table: PriceTable, name: string): ModelFacts | undefined {
  const fitting = Object.keys(table).filter((start) => name.startsWith(start));
  const longest = fitting.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : table[longest];
}

/** The name under which its maker sells a cloud's model: clouds charge the same. */
function listedName(name: string): string {
  return name
    .replace(/^bedrock\/(?:[a-z]+\.)?anthropic\./, "anthropic/")
    .replace(/^vertex\/(?=claude)/, "anthropic/")
    .replace(/^vertex\/(?=gemini)/, "google/")
    .replace(/^azure\/(?=gpt|o\d)/, "openai/");
}

export function costUsd(facts: ModelFacts, usage: LanguageModelV4Usage): number {
  const { total = 0, cacheRead = 0, cacheWrite = 0 } = usage.inputTokens;
  const plain = Math.max(0, total - cacheRead - cacheWrite);
  const inputCost =
    plain * facts.input +
    cacheRead * (facts.cachedInput ?? facts.input) +
    cacheWrite * (facts.cacheWrite ?? facts.input);
  return (inputCost + (usage.outputTokens.total ?? 0) * facts.output) / 1_000_000;
}
