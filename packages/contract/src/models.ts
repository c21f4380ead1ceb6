/**
 * Vendors of language models, by the part of a model's name before the slash: how people call it, the variables with its
 * key and its URL, its default URL, and a model to start with. A cloud has more variables: `settings`, and `secrets` that
 * a job must never show.
 */
export const modelVendors = {
  anthropic: {
    label: "Anthropic",
    key: "ANTHROPIC_API_KEY",
    baseUrl: "ANTHROPIC_BASE_URL",
    url: "https://api.anthropic.com",
    example: "anthropic/claude-sonnet-4-5",
  },
  openai: {
    label: "OpenAI",
    key: "OPENAI_API_KEY",
    baseUrl: "OPENAI_BASE_URL",
    url: "https://api.openai.com",
    example: "openai/gpt-5",
  },
  google: {
    label: "Google",
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    baseUrl: "GOOGLE_GENERATIVE_AI_BASE_URL",
    url: "https://generativelanguage.googleapis.com",
    example: "google/gemini-2.5-pro",
  },
  bedrock: {
    label: "Amazon Bedrock",
    key: "AWS_BEARER_TOKEN_BEDROCK",
    baseUrl: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    url: null,
    example: "bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0",
    settings: [
      "AWS_REGION",
      "AWS_DEFAULT_REGION",
      "AWS_ACCESS_KEY_ID",
      "AWS_ROLE_ARN",
      "AWS_WEB_IDENTITY_TOKEN_FILE",
      "AWS_ENDPOINT_URL_STS",
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
      "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    ],
    secrets: ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN"],
  },
  vertex: {
    label: "Google Vertex AI",
    key: "GOOGLE_VERTEX_API_KEY",
    baseUrl: "GOOGLE_VERTEX_BASE_URL",
    url: null,
    example: "vertex/gemini-2.5-pro",
    settings: ["GOOGLE_VERTEX_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_VERTEX_LOCATION"],
  },
  azure: {
    label: "Azure OpenAI",
    key: "AZURE_API_KEY",
    baseUrl: "AZURE_BASE_URL",
    url: null,
    example: "azure/<deployment>",
    settings: [
      "AZURE_RESOURCE_NAME",
      "AZURE_TENANT_ID",
      "AZURE_CLIENT_ID",
      "AZURE_FEDERATED_TOKEN_FILE",
      "AZURE_AUTHORITY_HOST",
      "AZURE_POD_IDENTITY_AUTHORITY_HOST",
      "IDENTITY_ENDPOINT",
    ],
    secrets: ["AZURE_CLIENT_SECRET", "IDENTITY_HEADER"],
  },
  compatible: {
    label: "OpenAI-compatible endpoint",
    key: "EMEND_COMPATIBLE_API_KEY",
    baseUrl: "EMEND_COMPATIBLE_BASE_URL",
    url: null,
    example: "compatible/<model>",
  },
} as const satisfies Readonly<Record<string, VendorNames>>;

interface VendorNames {
  label: string;
  key: string;
  baseUrl: string;
  url: string | null;
  example: string;
  settings?: readonly string[];
  secrets?: readonly string[];
}

export type ModelVendor = keyof typeof modelVendors;
export const modelVendorNames = Object.keys(modelVendors) as ModelVendor[];

/** The variables of a vendor beside its key and its URL. */
export function variablesOf(vendor: ModelVendor): { settings: readonly string[]; secrets: readonly string[] } {
  const names: VendorNames = modelVendors[vendor];
  return { settings: names.settings ?? [], secrets: names.secrets ?? [] };
}

/** Neither the built-in rules nor a runner: it reads what people write and attach. */
export function isLanguageModel(name: string): boolean {
  return isModelVendor(name.split("/", 1)[0] ?? "");
}

export function isModelVendor(name: string): name is ModelVendor {
  return Object.hasOwn(modelVendors, name);
}
