/**
 * Vendors of language models, by the part of a model's name before the slash: how people call it, the variables with its
 * key and its URL, its default URL, and a model to start with.
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
  compatible: {
    label: "OpenAI-compatible endpoint",
    key: "EMEND_COMPATIBLE_API_KEY",
    baseUrl: "EMEND_COMPATIBLE_BASE_URL",
    url: null,
    example: "compatible/<model>",
  },
} as const;

export type ModelVendor = keyof typeof modelVendors;
export const modelVendorNames = Object.keys(modelVendors) as ModelVendor[];

export function isModelVendor(name: string): name is ModelVendor {
  return Object.hasOwn(modelVendors, name);
}
