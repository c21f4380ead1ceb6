import type { Dialect, HeadingIdForm } from "./dialect.ts";

// Ids are short: only the end is searched, since white space before one could be of any length.
const lengthMax = 300;

const forms: Record<HeadingIdForm, { ending: string; expression: RegExp }> = {
  braces: { ending: "}", expression: /[ \t]*\{[ \t]*#([^\s{}]+)[ \t]*\}$/ },
  attributes: { ending: "}", expression: /[ \t]*\{:?[ \t]*([^\s{}%!/][^{}\n]*)\}$/ },
  comment: { ending: "}", expression: /[ \t]*\{\/\*[ \t]*#([^\s{}*]+)[ \t]*\*\/\}$/ },
  brackets: { ending: "]", expression: /[ \t]*\[#([^\s[\]]+)\]$/ },
};

/** The id in a list of attributes: `#id .class key=value`. */
export function idInAttributes(list: string): string | null {
  const found = /(?:^|\s)#([^\s.#="']+)|(?:^|\s)id=(?:"([^"]*)"|'([^']*)'|(\S+))/.exec(list);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? found?.[4] ?? null;
}

/** Where a heading's text ends and what id follows; null where it has no such ending. The id is null where it has other attributes only. */
export function findHeadingId(source: string, { headingIds }: Dialect): { index: number; id: string | null } | null {
  const from = Math.max(0, source.length - lengthMax);
  for (const form of headingIds) {
    const { ending, expression } = forms[form];
    const found = source.endsWith(ending) ? expression.exec(source.slice(from)) : null;
    const written = found?.[1];
    if (found === null || written === undefined) continue;
    return { index: from + found.index, id: form === "attributes" ? idInAttributes(written) : written };
  }
  return null;
}
