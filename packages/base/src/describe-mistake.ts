import { didYouMean } from "@emend/contract";

interface Mistake {
  keyword: string;
  instancePath: string;
  message: string;
  params: object;
}

/** A validation error in words that name the field: "`prompt` must be a string". `known`: the names at its level. */
export function describeMistake(error: Mistake, known: readonly string[], what = "argument"): string {
  const field = error.instancePath.slice(1).replaceAll("/", ".");
  const name = field === "" ? "The input" : `\`${field}\``;
  const params = error.params as {
    additionalProperties?: readonly string[];
    requiredProperties?: readonly string[];
    allowedValues?: readonly unknown[];
  };
  const inside = (one: string) => `\`${field === "" ? one : `${field}.${one}`}\``;
  switch (error.keyword) {
    case "type":
      return `${name} ${error.message.replace(/^must be (?=(string|number|boolean)$)/, "must be a ").replace(/^must be (?=(object|array|integer)$)/, "must be an ")}`;
    case "additionalProperties":
      return (params.additionalProperties ?? [])
        .map((one) => `Unknown ${what} ${inside(one)}${didYouMean(one, field === "" ? known : [])}`)
        .join("; ");
    case "required":
      return (params.requiredProperties ?? []).map((one) => `${inside(one)} is required`).join("; ");
    case "enum":
      return `${name} must be one of ${(params.allowedValues ?? []).join(", ")}`;
    case "minLength":
      return `${name} must not be empty`;
    default:
      return `${name} ${error.message}`;
  }
}
