import { stringify } from "yaml";
import { readFrontMatter } from "../parse/front-matter.ts";
import type { Site } from "../site.ts";
import { encodePiece, textStart, toByteString } from "../text/bytes.ts";
import { newlineOf, type Splice } from "../text/splice.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, refuse } from "./edit-plan.ts";
import { locatePage } from "./locate-page.ts";

export interface SetFrontMatter {
  page: string;
  field: string;
  /** Null takes the field out. */
  value: string | number | boolean | null;
}

/** Sets one field of a page's front matter, adding the front matter where there is none; or takes it out. */
export async function setFrontMatter(site: Site, input: SetFrontMatter): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const { path } = located.node;
  if (!/^[A-Za-z_][\w-]*$/.test(input.field)) return refuse(`"${input.field}" is no name for a front-matter field`);
  if (typeof input.value === "number" && !Number.isFinite(input.value))
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
  } else if (front?.fields[input.field] !== input.value) {
    plan.splice(path, fieldSplice(text, front, input.field, input.value));
    plan.count("fields");
  }
  return plan.finish();
}

type Front = NonNullable<ReturnType<typeof readFrontMatter>>;

/** The field with the indented, listed or blank lines that continue its value. */
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

function render(field: string, value: string | number | boolean, format: "yaml" | "toml"): string {
  if (format === "toml") return encodePiece(`${field} = ${JSON.stringify(value)}`);
  return encodePiece(`${field}: ${stringify(value, { lineWidth: 0, defaultStringType: "PLAIN" }).trimEnd()}`);
}

function fieldSplice(
  text: string,
  front: ReturnType<typeof readFrontMatter>,
  field: string,
  value: string | number | boolean,
): Splice {
  const newline = newlineOf(text);
  if (front === null) {
    const start = textStart(text);
    return { start, end: start, text: ["---", render(field, value, "yaml"), "---", "", ""].join(newline) };
  }
  const line = render(field, value, front.format);
  const found = findField(text, front, field);
  if (found !== null) {
    const comment = /[ \t]+#[^"'\n]*$/.exec(found.whole.includes("\n") ? "" : found.whole)?.[0] ?? "";
    return { start: found.start, end: found.end - comment.length, text: line };
  }
  // Tables of TOML swallow what follows: its new field goes first.
  const at = front.format === "toml" ? front.start : front.end;
  return { start: at, end: at, text: line + newline };
}
