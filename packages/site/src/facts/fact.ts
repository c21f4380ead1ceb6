/** What code says about a thing that docs can name: an option, a setting, a parameter, a member. */
export interface Fact {
  /** What it is a member of: a type, a function, a table of a file, or the commands of a file. */
  container: string;
  /** As readers write it: `--dry-run`, `retries`. */
  name: string;
  /** 1-based. */
  line: number;
  /** The code of this line. */
  text: string;
  default?: string;
  /** The values that it accepts. */
  choices?: readonly string[];
  type?: string;
  required?: boolean;
  deprecated?: boolean;
  /** The release that added it, as the code says. */
  since?: string;
  /** Of a function: what its callers pass. */
  signature?: Signature;
}

export interface Signature {
  /** In their order, without `self`. */
  parameters: readonly { name: string; required: boolean; isByNameOnly?: boolean }[];
  /** Whether it takes more arguments than its parameters, such as `*args`, and by other names, such as `**options`. */
  rest?: boolean;
  otherNames?: boolean;
  /** Whether callers may write its module before it, as in `module.name()`. */
  isQualified?: boolean;
}

/** How a fact's parts are called in messages. */
export type FactPart = "default" | "choices" | "type" | "required" | "deprecated" | "since" | "signature" | "text";

/** A literal as it stands on a page: without quotes, and `True` as `true`. Null: it is computed. */
export function plainValue(text: string): string | null {
  const value = text.trim();
  const quoted = /^[bru]*(["'`])([\s\S]*)\1$/i.exec(value)?.[2];
  if (quoted !== undefined) return quoted.length <= 80 && !quoted.includes("\n") ? quoted : null;
  if (/^(?:true|false)$/i.test(value)) return value.toLowerCase();
  if (/^-?[\d_]+(?:\.\d+)?(?:[a-z]\w*)?$/i.test(value))
    return value.replaceAll("_", "").replace(/[uif](?:8|16|32|64|size)$/, "");
  // `30 * time.Second`: pages write 30s.
  const duration = /^(\d+)\s*\*\s*time\.(Hour|Minute|Second|Millisecond)$/.exec(value);
  if (duration !== null)
    return `${duration[1]}${{ Hour: "h", Minute: "m", Second: "s", Millisecond: "ms" }[duration[2] as "Hour"]}`;
  return null;
}
