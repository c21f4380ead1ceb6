/** Vendors of language models (the part of a model's name before the slash), with the variables that configure them. */
export const vendorVariables = {
  anthropic: { key: "ANTHROPIC_API_KEY", baseUrl: "ANTHROPIC_BASE_URL" },
  openai: { key: "OPENAI_API_KEY", baseUrl: "OPENAI_BASE_URL" },
  google: { key: "GOOGLE_GENERATIVE_AI_API_KEY", baseUrl: "GOOGLE_GENERATIVE_AI_BASE_URL" },
  compatible: { key: "EMEND_COMPATIBLE_API_KEY", baseUrl: "EMEND_COMPATIBLE_BASE_URL" },
} as const;
export type ModelVendor = keyof typeof vendorVariables;
export const modelVendors = Object.keys(vendorVariables) as ModelVendor[];

export const rulesModelName = "emend/rules";

/** All forms of a model's name, for messages. */
export const modelForms = `${rulesModelName} (deterministic, needs no key) or to one of ${modelVendors.map((vendor) => `${vendor}/<model>`).join(", ")}, runner/<program>`;

/** Whether this could be a model's name. Whether the model exists is known when it is asked. */
export function isModelName(name: string): boolean {
  if (name === rulesModelName) return true;
  const slash = name.indexOf("/");
  const before = name.slice(0, Math.max(0, slash));
  return slash < name.length - 1 && [...modelVendors, "runner"].includes(before);
}
