interface Mistake {
  keyword: string;
  instancePath: string;
  message: string;
  params: object;
}

/** What models and people often write for a name of ours. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  pattern: ["query", "regex", "search", "term", "text"],
  path: ["file", "filename", "filepath", "page"],
  paths: ["files"],
  oldText: ["oldstring", "old", "search", "find"],
  newText: ["newstring", "new", "replace", "replacement"],
  content: ["contents", "body", "text"],
  prompt: ["instruction", "instructions", "message", "input", "task", "text"],
  baseRef: ["base", "branch", "ref"],
};

/** A validation error in words that name the field: "`prompt` must be a string". `known`: the names at its level. */
export function describeMistake(error: Mistake, known: readonly string[], what = "argument"): string {
  const field = error.instancePath.slice(1).replaceAll("/", ".");
  const name = field === "" ? "The input" : `\`${field}\``;
  const params = error.params as { additionalProperties?: readonly string[]; requiredProperties?: readonly string[] };
  const inside = (one: string) => `\`${field === "" ? one : `${field}.${one}`}\``;
  switch (error.keyword) {
    case "type":
      return `${name} ${error.message.replace(/^must be (?=(string|number|boolean)$)/, "must be a ").replace(/^must be (?=(object|array|integer)$)/, "must be an ")}`;
    case "additionalProperties":
      return (params.additionalProperties ?? [])
        .map((one) => `Unknown ${what} ${inside(one)}${meant(one, field === "" ? known : [])}`)
        .join("; ");
    case "required":
      return (params.requiredProperties ?? []).map((one) => `${inside(one)} is required`).join("; ");
    case "minLength":
      return `${name} must not be empty`;
    default:
      return `${name} ${error.message}`;
  }
}

/** "; did you mean `pattern`?", or the names that there are. */
export function meant(name: string, known: readonly string[]): string {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, "");
  const near =
    known.find((one) => plain(one) === plain(name) || otherNames[one]?.includes(plain(name))) ??
    known.find((one) => isOneSlipOff(plain(one), plain(name)));
  if (near !== undefined) return `; did you mean \`${near}\`?`;
  return known.length === 0 ? "" : `; there is ${known.map((one) => `\`${one}\``).join(", ")}`;
}

/** One letter more, less, other, or two swapped. */
function isOneSlipOff(one: string, other: string): boolean {
  if (Math.min(one.length, other.length) < 4) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  const [left, right] = [one.slice(start), other.slice(start)];
  const isSwapped = left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2);
  return isSwapped || left.slice(1) === right || left === right.slice(1) || left.slice(1) === right.slice(1);
}
