import { insertMember, quoteLike, removeMembers } from "../literal/edit-literal.ts";
import { type ArrayLiteral, entryOf, type Literal, type ObjectLiteral, stringOf } from "../literal/literal.ts";
import { encodePiece } from "../text/bytes.ts";
import { indexLines } from "../text/line-index.ts";
import { indentOf, newlineOf } from "../text/splice.ts";
import type { FileEdit, Redirect, RedirectPair, RedirectStore } from "./framework.ts";

interface ArraySource {
  file: string;
  text: string;
  /** The object that holds, or is to hold, the list. */
  root: Literal;
  key: string;
  /** The list itself, where it stands in another file. */
  list?: Literal;
  /** The names of a redirect's two fields. */
  names: readonly [string, string];
  /** What each redirect must say besides, as source. */
  rest?: string;
}

/** Redirects as `[{ source, destination }]` under a key of a JSON or JavaScript object. */
export function arrayRedirects(source: ArraySource): { redirects: Redirect[]; store: RedirectStore | null } {
  const { file, text, root, key, names } = source;
  const list = source.list ?? entryOf(root, key);
  const array = list?.kind === "array" ? list : null;
  const lines = indexLines(text);
  const redirects: Redirect[] = [];
  for (const item of array?.items ?? []) {
    const from = entryOf(item, names[0]);
    const to = entryOf(item, names[1]);
    const sources = from?.kind === "array" ? from.items : [from];
    for (const one of sources) {
      if (one?.kind !== "string" || to?.kind !== "string") continue;
      redirects.push({
        from: one.value,
        to: to.value,
        file,
        ...lines.place(item.start),
        fromRange: [one.start + 1, one.end - 1],
        toRange: [to.start + 1, to.end - 1],
      });
    }
  }
  if (root.kind !== "object" || (list !== undefined && array === null)) return { redirects, store: null };
  return { redirects, store: { add: (pairs) => addTo(source, root, array, pairs), remove } };

  function remove(gone: readonly Redirect[]): FileEdit | null {
    if (array === null || root.kind !== "object") return null;
    const indexes = new Set<number>();
    array.items.forEach((item, index) => {
      const from = stringOf(entryOf(item, names[0]));
      const to = stringOf(entryOf(item, names[1]));
      if (gone.some((redirect) => redirect.from === from && redirect.to === to)) indexes.add(index);
    });
    if (indexes.size === 0) return null;
    // A list on several lines that is left empty was made for these redirects: it goes with them.
    const isWhole =
      source.list === undefined &&
      indexes.size === array.items.length &&
      text.slice(array.start, array.end).includes("\n");
    if (!isWhole) return { file, splices: removeMembers(array, indexes) };
    const entry = root.entries.findIndex(({ value }) => value === array);
    return { file, splices: removeMembers(root, new Set([entry])) };
  }
}

function addTo(
  source: ArraySource,
  root: ObjectLiteral,
  array: ArrayLiteral | null,
  pairs: readonly RedirectPair[],
): FileEdit {
  const { file, text, key, names } = source;
  const newline = newlineOf(text);
  const last = array?.items.at(-1);
  const sample = entryOf(last, names[0]) ?? root.entries[0]?.value;
  const name = (word: string): string => (file.endsWith(".json") ? JSON.stringify(word) : word);
  const fields = pairs.map(({ from, to }) => [
    `${name(names[0])}: ${encodePiece(quoteLike(text, sample, from))}`,
    `${name(names[1])}: ${encodePiece(quoteLike(text, sample, to))}`,
    ...(source.rest === undefined ? [] : [source.rest]),
  ]);
  if (array !== null) {
    const isLined = last?.kind === "object" && text.slice(last.start, last.end).includes("\n");
    const outer = last === undefined ? "" : indentOf(text, last.start);
    const inner = isLined ? indentOf(text, last.entries[0]?.keyStart ?? last.start) : "";
    const members = fields.map((pair) =>
      isLined ? `{${newline}${inner}${pair.join(`,${newline}${inner}`)}${newline}${outer}}` : `{ ${pair.join(", ")} }`,
    );
    const gap = text.slice(array.start, array.end).includes("\n") ? `,${newline}${outer}` : ", ";
    return { file, splices: [insertMember(text, array, array.items.length, members.join(gap))] };
  }
  const indent = root.entries[0] === undefined ? "  " : indentOf(text, root.entries[0].keyStart);
  const members = fields.map((pair) => `${newline}${indent}${indent}{ ${pair.join(", ")} }`).join(",");
  const entry = `${name(key)}: [${members}${newline}${indent}]`;
  return { file, splices: [insertMember(text, root, root.entries.length, entry)] };
}
