import { stringify } from "yaml";
import { locatePage } from "../find-page.ts";
import { readFrontMatter } from "../parse/front-matter.ts";
import type { Site } from "../site.ts";
import { encodePiece, newlineOf, type Splice, textStart, toByteString } from "../text/bytes.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, refuse } from "./edit-plan.ts";

export interface SetFrontMatter {
  page: string;
  field: string;
  /** Null removes the field. */
  value: Value | null;
}

type One = string | number | boolean;
type Value = One | readonly One[];

/** Sets or removes one field of a page's front matter. Adds the front matter if needed. */
export async function setFrontMatter(site: Site, input: SetFrontMatter): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const { path } = located.node;
  if (!/^[A-Za-z_][\w-]*$/.test(input.field)) return refuse(`"${input.field}" is not a name for a front matter field`);
  if ([input.value].flat().some((one) => typeof one === "number" && !Number.isFinite(one)))
    return refuse("the value must be a finite number");
  const bytes = await site.tree.read(path);
  if (bytes === null) return refuse(`${path} is gone`);
  const text = toByteString(bytes);
  const front = readFrontMatter(text, textStart(text));
  if (front?.problem !== undefined)
    return refuse(`the front matter of ${path} cannot be read: ${front.problem.message}`);
  const plan = createPlan(site);
  if (input.value === null) {
    if (front === null || front.fields[input.field] === undefined) return plan.finish();
    const found = findField(text, front, input.field);
    if (found === null) return refuse(`${path} writes "${input.field}" in a way that cannot be taken out alone`);
    const lineEnd = /^\r?\n/.exec(text.slice(found.end))?.[0] ?? "";
    plan.splice(path, { start: found.start, end: found.end + lineEnd.length, text: "" });
    plan.count("fields");
  } else if (JSON.stringify(front?.fields[input.field]) !== JSON.stringify(input.value)) {
    plan.splice(path, fieldSplice(text, front, input.field, input.value));
    plan.count("fields");
  }
  return plan.finish();
}

type Front = NonNullable<ReturnType<typeof readFrontMatter>>;

/** The field with the lines that continue its value: indented, list items or blank. */
function findField(text: string, front: Front, field: string): { start: number; end: number; whole: string } | null {
  const sign = front.format === "yaml" ? ":" : "[ \\t]*=";
  const found = new RegExp(
    `^${field}${sign}.*(?:\\r?\\n(?:[ \\t]+\\S.*|-[ \\t].*|[ \\t]*(?=\\r?\\n[ \\t])))*`,
    "m",
  ).exec(text.slice(front.start, front.end));
  if (found === null) return null;
  const whole = found[0].endsWith("\r") ? found[0].slice(0, -1) : found[0];
  const start = front.start + found.index;
  return { start, end: start + whole.length, whole };
}

type Quote = "PLAIN" | "QUOTE_DOUBLE" | "QUOTE_SINGLE";

/** The old value's quotes. For a new field, the quotes that most other fields use. */
function quoteOf(text: string, front: Front | null, found: { whole: string } | null): Quote {
  if (front === null) return "PLAIN";
  const value = found?.whole.replace(/^[^:]*:[ \t]*/, "") ?? "";
  const first = /^(?:\[\s*|[\s-]*)(["'])/.exec(value)?.[1];
  if (first !== undefined) return first === '"' ? "QUOTE_DOUBLE" : "QUOTE_SINGLE";
  if (found !== null) return "PLAIN";
  const lines = text.slice(front.start, front.end).split("\n");
  const count = (form: RegExp) => lines.filter((line) => form.test(line)).length;
  const [double, single] = [count(/^[\w-]+:\s+"/), count(/^[\w-]+:\s+'/)];
  const plain = count(/^[\w-]+:\s+(?!(?:true|false|null|[\d.+-]+)\s*$)[^\s"'[{|>#]/);
  if (double > Math.max(single, plain)) return "QUOTE_DOUBLE";
  return single > Math.max(double, plain) ? "QUOTE_SINGLE" : "PLAIN";
}

interface Manner {
  format: "yaml" | "toml";
  quote: Quote;
  /** The indentation of each item of a block list. Null: a flow list in brackets. */
  indent: string | null;
  newline: string;
}

function render(field: string, value: Value, { format, quote, indent, newline }: Manner): string {
  if (format === "toml") return encodePiece(`${field} = ${JSON.stringify(value)}`);
  const one = (scalar: One, inFlow = false) => {
    // Characters that have a meaning in a flow list need quotes there.
    const needsQuote = inFlow && typeof scalar === "string" && /[,[\]{}]/.test(scalar);
    const defaultStringType = quote === "PLAIN" && needsQuote ? "QUOTE_DOUBLE" : quote;
    return stringify(scalar, { lineWidth: 0, defaultStringType, defaultKeyType: "PLAIN" }).trimEnd();
  };
  if (!Array.isArray(value)) return encodePiece(`${field}: ${one(value as One)}`);
  if (indent === null || value.length === 0)
    return encodePiece(`${field}: [${value.map((item) => one(item, true)).join(", ")}]`);
  return encodePiece([`${field}:`, ...value.map((item) => `${indent}- ${one(item)}`)].join(newline));
}

function fieldSplice(text: string, front: Front | null, field: string, value: Value): Splice {
  const newline = newlineOf(text);
  const found = front === null ? null : findField(text, front, field);
  const indent = /\n([ \t]*)- /.exec(found?.whole ?? "")?.[1] ?? null;
  const manner = { format: front?.format ?? "yaml", quote: quoteOf(text, front, found), indent, newline } as const;
  const line = render(field, value, manner);
  if (front === null) {
    const start = textStart(text);
    return { start, end: start, text: ["---", line, "---", "", ""].join(newline) };
  }
  if (found !== null) {
    const comment = /[ \t]+#[^"'\n]*$/.exec(found.whole.includes("\n") ? "" : found.whole)?.[0] ?? "";
    return { start: found.start, end: found.end - comment.length, text: line };
  }
  // In TOML, a field after a table belongs to the table: the new field goes first.
  const at = front.format === "toml" ? front.start : front.end;
  return { start: at, end: at, text: line + newline };
}
