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
