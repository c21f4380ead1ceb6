import { type ModelVendor, modelVendors } from "@emend/contract";
import { azure, bedrock, vertex } from "./clouds.ts";
import { type Endpoint, outputTokensMax, type Vendor } from "./vendor.ts";

const needsKey = (vendor: ModelVendor) => (endpoint: Endpoint) =>
  endpoint.apiKey === null ? modelVendors[vendor].key : null;

const anthropic: Vendor = {
  missing: needsKey("anthropic"),
  metadataName: "anthropic",
  outputTokensMax,
  cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
  async open({ modelId, apiKey, baseUrl, fetch }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
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
  missing: needsKey("openai"),
  metadataName: "openai",
  // The vendor stores nothing: the conversation is only in the stored steps.
  options: (cacheKey) => ({ openai: { store: false, promptCacheKey: cacheKey } }),
  async open({ modelId, apiKey, baseUrl, fetch }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const provider = createOpenAI({ apiKey: apiKey ?? "", fetch, ...(baseUrl !== null && { baseURL: baseUrl }) });
    return provider.responses(modelId);
  },
};

const google: Vendor = {
  missing: needsKey("google"),
  metadataName: "google",
  async open({ modelId, apiKey, baseUrl, fetch }) {
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
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
  missing: ({ baseUrl }) => (baseUrl === null ? modelVendors.compatible.baseUrl : null),
  metadataName: "compatible",
  async open({ modelId, apiKey, baseUrl, fetch }) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
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

/** A cloud serves models of several makers, each with its own protocol. */
export const vendors: Readonly<Record<ModelVendor, (modelId: string) => Vendor>> = {
  anthropic: () => anthropic,
  openai: () => openai,
  google: () => google,
  bedrock,
  vertex,
  azure: () => azure,
  compatible: () => compatible,
};
