import { createOpenAI } from "@ai-sdk/openai";
import type { Vendor } from "./vendor.ts";

export const openai: Vendor = {
  name: "openai",
  needs: "key",
  metadataName: "openai",
  // The vendor stores nothing: the conversation is only in the stored steps.
  options: (cacheKey) => ({ openai: { store: false, promptCacheKey: cacheKey } }),
  open({ modelId, apiKey, baseUrl, fetch }) {
    const provider = createOpenAI({ apiKey: apiKey ?? "", fetch, ...(baseUrl !== null && { baseURL: baseUrl }) });
    return provider.responses(modelId);
  },
};
