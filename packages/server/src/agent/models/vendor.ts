import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ModelVendor } from "../../lib/model-names.ts";

/** One wire protocol: how to open its models, and how they differ. */
export interface Vendor {
  /** The part of a model's name before the slash. */
  name: ModelVendor;
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
