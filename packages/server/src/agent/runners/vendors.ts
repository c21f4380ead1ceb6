import { withVersion } from "../models/anthropic.ts";

/** What the gateway knows of a vendor: where it is, how a key is shown to it, and what of it an agent program needs. */
export interface RunnerVendor {
  name: string;
  /** Where it is, with the version: as the language models read what the operator set; null: its own address. */
  addressOf(baseUrl: string | null): string;
  /** The header that carries a key. */
  credential(apiKey: string): readonly [name: string, value: string];
  /** Method and path, below the version, of asking a model; files, batches and administration are none of it. */
  asks: RegExp;
}

const anthropic: RunnerVendor = {
  name: "anthropic",
  addressOf: (baseUrl) => withVersion(baseUrl ?? "https://api.anthropic.com"),
  credential: (apiKey) => ["x-api-key", apiKey],
  asks: /^(?:POST \/messages(?:\/count_tokens)?|GET \/models(?:\/[\w.:-]+)?)$/,
};

const openai: RunnerVendor = {
  name: "openai",
  addressOf: (baseUrl) => baseUrl ?? "https://api.openai.com/v1",
  credential: (apiKey) => ["authorization", `Bearer ${apiKey}`],
  asks: /^(?:POST \/(?:responses(?:\/compact)?|chat\/completions)|GET \/models(?:\/[\w.:-]+)?)$/,
};

/** Those whose programs there are. */
export const runnerVendors: readonly RunnerVendor[] = [anthropic, openai];
