/** Vendors of language models: the part of a model's name before the slash. */
export const modelVendors = ["anthropic", "openai", "google", "compatible"] as const;
export type ModelVendor = (typeof modelVendors)[number];

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
