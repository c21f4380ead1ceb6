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
  value: string | number | boolean;
}

/** Sets one field of a page's front matter, adding the front matter where there is none. */
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
  if (front?.fields[input.field] !== input.value) {
    plan.splice(path, fieldSplice(text, front, input.field, input.value));
    plan.count("fields");
  }
  return plan.finish();
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
  const source = text.slice(front.start, front.end);
  const line = render(field, value, front.format);
  const sign = front.format === "yaml" ? ":" : "[ \\t]*=";
  // The field with the indented, listed or blank lines that continue its value.
  const found = new RegExp(
    `^${field}${sign}.*(?:\\r?\\n(?:[ \\t]+\\S.*|-[ \\t].*|[ \\t]*(?=\\r?\\n[ \\t])))*`,
    "m",
  ).exec(source);
  if (found !== null) {
    const start = front.start + found.index;
    const whole = found[0].endsWith("\r") ? found[0].slice(0, -1) : found[0];
    const comment = /[ \t]+#[^"'\n]*$/.exec(whole.includes("\n") ? "" : whole)?.[0] ?? "";
    return { start, end: start + whole.length - comment.length, text: line };
  }
  // Tables of TOML swallow what follows: its new field goes first.
  const at = front.format === "toml" ? front.start : front.end;
  return { start: at, end: at, text: line + newline };
}
