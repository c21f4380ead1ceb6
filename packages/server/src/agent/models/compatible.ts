import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Vendor } from "./vendor.ts";

/** Every server with OpenAI's chat completions API: vLLM, Ollama, LM Studio, a gateway. */
export const compatible: Vendor = {
  name: "compatible",
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
