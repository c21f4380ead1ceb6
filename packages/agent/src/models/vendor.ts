import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";

/** One wire protocol: how to open its models, and how they differ. */
export interface Vendor {
  /** The variable that is required and not set. */
  missing(endpoint: Endpoint): string | null;
  /** Imports the vendor's client: a process loads only the clients that it uses. */
  open(input: VendorInput): Promise<LanguageModelV4>;
  /** The name under which responses carry opaque data, such as signed reasoning. */
  metadataName: string;
  /** Set on the last message of the prefix that is the same in every turn. */
  cacheMark?: SharedV4ProviderOptions;
  /** For every request. `cacheKey` is the same for all turns of a job. */
  options?(cacheKey: string): SharedV4ProviderOptions;
  /** Set if the SDK's default would truncate a long page. */
  outputTokensMax?: number;
}

/** A vendor's URL and key. */
export interface Endpoint {
  apiKey: string | null;
  /** Null: the vendor's default. */
  baseUrl: string | null;
  /** A cloud's other variables that are set. */
  settings?: Readonly<Record<string, string>>;
  /** Those that must not be shown. */
  secrets?: Readonly<Record<string, string>>;
}

export interface VendorInput extends Endpoint {
  modelId: string;
  fetch: typeof globalThis.fetch;
}

/** The SDK's default would truncate a long page. */
export const outputTokensMax = 16_000;
