import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { Vendor } from "./vendor.ts";

export const google: Vendor = {
  name: "google",
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
