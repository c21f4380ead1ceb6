import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";

/** One wire protocol: how its models are opened, and what is particular about them. */
export interface Vendor {
  /** The part of a model's name before the slash. */
  name: string;
  keyVariable: string;
  baseUrlVariable: string;
  /** What must be set before it can be asked. */
  needs: "key" | "baseUrl";
  open(input: VendorInput): LanguageModelV4;
  /** Under which name answers carry what must be handed back unread, such as signed thoughts. */
  metadataName: string;
  /** Put on the last message of the prefix that stays the same from turn to turn. */
  cacheMark?: SharedV4ProviderOptions;
  /** Of every request. `cacheKey` is the same for all turns of a job. */
  options?(cacheKey: string): SharedV4ProviderOptions;
  /** Where the SDK's own default would cut a long page off. */
  outputTokensMax?: number;
}

interface VendorInput {
  modelId: string;
  apiKey: string | null;
  /** Null: the vendor's own. */
  baseUrl: string | null;
  fetch: typeof globalThis.fetch;
}

/** Where a vendor is reached and by which key. */
export interface Endpoint {
  apiKey: string | null;
  baseUrl: string | null;
}
