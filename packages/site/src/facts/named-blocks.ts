import type { PageBlock } from "../drift/page-blocks.ts";

export interface NamedBlock {
  block: PageBlock;
  /** The names in its code, each with the lines that have it. */
  names: ReadonlyMap<string, readonly number[]>;
}

/** Whether the heading above a block is about the name. */
export function titles({ section }: PageBlock, name: string): boolean {
  const last = section.split(" > ").at(-1) ?? "";
  return last.replaceAll(/[`*]/g, "").trim() === name;
}

const item = /^(\s*)(?:[-*+]|\d+[.)])\s/;
/** What an item or a paragraph is about: `- **name**`, `` - `name`: ``, `**name** (number)`. */
const term =
  /^\s*(?:(?:[-*+]|\d+[.)])\s+)?(?:\*\*`?|__`?)((?:--)?[A-Za-z_][\w-]*)`?(?:\*\*|__)|^\s*(?:[-*+]|\d+[.)])\s+`((?:--)?[A-Za-z_][\w-]*)/;

const termOf = (line: string) =>
  term
    .exec(line)
    ?.slice(1)
    .find((name) => name !== undefined);

/** The lines of a block that follow such a name, up to the next item. */
export function linesUnder({ text, inSample }: PageBlock, name: string): number[] {
  if (inSample || !text.includes(name)) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    if (termOf(line) !== name) return [];
    const next = lines.findIndex((one, number) => number > at && (item.test(one) || termOf(one) !== undefined));
    return Array.from({ length: (next === -1 ? lines.length : next) - at }, (_, offset) => at + offset);
  });
}

/** Has several parts. Plain words of English are on every page. */
export function isTelling(name: string): boolean {
  return name.startsWith("--") || (name.length >= 5 && /[a-z\d][-_A-Z]/.test(name)) || /[A-Z]_[A-Z]/.test(name);
}

export const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

export function hasWord(text: string, word: string): boolean {
  return word !== "" && new RegExp(`(?<![\\w-])${escaped(word)}(?![\\w-])`).test(text);
}

/** The names in a block's code, in spans and samples, with the lines that have them. */
export function namesIn({ text, inSample }: PageBlock): ReadonlyMap<string, readonly number[]> {
  const names = new Map<string, number[]>();
  const isSample = inSample ?? /^\s*(?:`{3,}|~{3,})/m.test(text);
  for (const [number, line] of text.split("\n").entries()) {
    const parts = isSample ? [line] : [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
    // The first column of a table names what the row is about, also without backquotes.
    const first = isSample
      ? null
      : /^\s*\|\s*(?:\*\*|\[)?((?:--)?[A-Za-z][\w-]*)(?:\*\*|\]\([^)\s]*\))?\s*\|/.exec(line);
    if (first !== null) parts.push(first[1] as string);
    const about = isSample ? undefined : termOf(line);
    if (about !== undefined) parts.push(about);
    for (const part of parts) {
      for (const [name] of part.matchAll(/(?:--)?[A-Za-z_][\w-]*/g)) {
        const known = names.get(name);
        if (known === undefined) names.set(name, [number]);
        else if (known.at(-1) !== number) known.push(number);
      }
    }
  }
  return names;
}
