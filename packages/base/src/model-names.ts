import { modelVendorNames } from "@emend/contract";

export const rulesModelName = "emend/rules";

/** All forms of a model's name, for messages. */
export const modelForms = `${rulesModelName} (deterministic, needs no key) or to one of ${modelVendorNames.map((vendor) => `${vendor}/<model>`).join(", ")}, runner/<program>`;

/** Whether this could be a model's name. Whether the model exists is known when it is asked. */
export function isModelName(name: string): boolean {
  if (name === rulesModelName) return true;
  const slash = name.indexOf("/");
  const before = name.slice(0, Math.max(0, slash));
  return slash < name.length - 1 && [...modelVendorNames, "runner"].includes(before);
}
