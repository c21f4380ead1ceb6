import { createAnthropic } from "@ai-sdk/anthropic";
import type { Vendor } from "./vendor.ts";

const outputTokensMax = 16_000;

export const anthropic: Vendor = {
  name: "anthropic",
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
