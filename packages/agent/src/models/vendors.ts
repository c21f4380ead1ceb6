import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ModelVendor } from "@emend/contract";

/** One wire protocol: how to open its models, and how they differ. */
export interface Vendor {
  /** The setting that is required. */
  needs: "key" | "baseUrl";
  open(input: VendorInput): LanguageModelV4;
  /** The name under which responses carry opaque data, such as signed reasoning. */
  metadataName: string;
  /** Set on the last message of the prefix that is the same in every turn. */
  cacheMark?: SharedV4ProviderOptions;
  /** For every request. `cacheKey` is the same for all turns of a job. */
  options?(cacheKey: string): SharedV4ProviderOptions;
  /** Set if the SDK's default would truncate a long page. */
  outputTokensMax?: number;
}

interface VendorInput {
  modelId: string;
  apiKey: string | null;
  /** Null: the vendor's default. */
  baseUrl: string | null;
  fetch: typeof globalThis.fetch;
}

/** A vendor's URL and key. */
export interface Endpoint {
  apiKey: string | null;
  baseUrl: string | null;
}

const outputTokensMax = 16_000;

const anthropic: Vendor = {
  needs: "key",
  metadataName: "anthropic",
  outputTokensMax,
  cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
  open({ modelId, apiKey, baseUrl, fetch }) {
    const provider = createAnthropic({
      apiKey: apiKey ?? "",
      fetch,
      ...(baseUrl !== null && { baseURL: withVersion(baseUrl) }),
    });
    return provider(modelId);
  },
};

/** Other programs set this variable without the version. Both forms are accepted. */
export function withVersion(baseUrl: string): string {
  const url = baseUrl.replace(/\/+$/, "");
  return /\/v\d+$/.test(url) ? url : `${url}/v1`;
}

const openai: Vendor = {
  needs: "key",
  metadataName: "openai",
  // The vendor stores nothing: the conversation is only in the stored steps.
  options: (cacheKey) => ({ openai: { store: false, promptCacheKey: cacheKey } }),
  open({ modelId, apiKey, baseUrl, fetch }) {
    const provider = createOpenAI({ apiKey: apiKey ?? "", fetch, ...(baseUrl !== null && { baseURL: baseUrl }) });
    return provider.responses(modelId);
  },
};

const google: Vendor = {
  needs: "key",
  metadataName: "google",
  open({ modelId, apiKey, baseUrl, fetch }) {
    const provider = createGoogleGenerativeAI({
      apiKey: apiKey ?? "",
      fetch,
      ...(baseUrl !== null && { baseURL: baseUrl }),
    });
    return provider(modelId);
  },
};

/** Every server with OpenAI's chat completions API: vLLM, Ollama, LM Studio, a gateway. */
const compatible: Vendor = {
  needs: "baseUrl",
  metadataName: "compatible",
  open({ modelId, apiKey, baseUrl, fetch }) {
    const provider = createOpenAICompatible({
      name: "compatible",
      baseURL: baseUrl ?? "",
      includeUsage: true,
      fetch,
      ...(apiKey !== null && { apiKey }),
    });
    return provider.chatModel(modelId);
  },
};

export const vendors: Readonly<Record<ModelVendor, Vendor>> = { anthropic, openai, google, compatible };
