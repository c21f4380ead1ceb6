import { insertMember, quoteLike, removeMembers } from "../literal/edit-literal.ts";
import { entryOf, type Literal, stringOf } from "../literal/literal.ts";
import { encodePiece } from "../text/bytes.ts";
import { indexLines } from "../text/line-index.ts";
import { indentOf, newlineOf } from "../text/splice.ts";
import type { FileEdit, Redirect, RedirectPair, RedirectStore } from "./framework.ts";

interface ObjectSource {
  file: string;
  text: string;
  /** The object that holds, or is to hold, the redirects. */
  root: Literal;
  key: string;
}

/** Redirects as `{ "/old": "/new" }` under a key of an object. */
export function objectRedirects(source: ObjectSource): { redirects: Redirect[]; store: RedirectStore | null } {
  const { file, text, root, key } = source;
  const map = entryOf(root, key);
  const lines = indexLines(text);
  const redirects: Redirect[] = [];
  for (const { key: from, keyStart, value } of map?.kind === "object" ? map.entries : []) {
    const to = value.kind === "string" ? value : entryOf(value, "destination");
    if (to?.kind !== "string") continue;
    redirects.push({ from, to: to.value, file, ...lines.place(keyStart), toRange: [to.start + 1, to.end - 1] });
  }
  if (root.kind !== "object" || (map !== undefined && map.kind !== "object")) return { redirects, store: null };
  return { redirects, store: { add, remove } };

  function add(pairs: readonly RedirectPair[]): FileEdit {
    if (root.kind !== "object") return { file, splices: [] };
    const sample = map?.kind === "object" ? map.entries[0]?.value : undefined;
    const quote = (value: string): string =>
      encodePiece(quoteLike(text, sample ?? { kind: "string", start: text.indexOf("'"), end: 0, value: "" }, value));
    const members = pairs.map(({ from, to }) => `${quote(from)}: ${quote(to)}`);
    const newline = newlineOf(text);
    if (map?.kind === "object") {
      const last = map.entries.at(-1);
      const isLined = text.slice(map.start, map.end).includes("\n");
      const gap = isLined && last !== undefined ? `,${newline}${indentOf(text, last.keyStart)}` : ", ";
      return { file, splices: [insertMember(text, map, map.entries.length, members.join(gap))] };
    }
    const indent = root.entries[0] === undefined ? "  " : indentOf(text, root.entries[0].keyStart);
    const lined = members.map((member) => `${newline}${indent}${indent}${member},`).join("");
    return { file, splices: [insertMember(text, root, root.entries.length, `${key}: {${lined}${newline}${indent}}`)] };
  }

  function remove(gone: readonly Redirect[]): FileEdit | null {
    if (map?.kind !== "object" || root.kind !== "object") return null;
    const indexes = new Set<number>();
    map.entries.forEach(({ key: from, value }, index) => {
      if (gone.some((redirect) => redirect.from === from && redirect.to === stringOf(value))) indexes.add(index);
    });
    if (indexes.size === 0) return null;
    // A map on several lines that is left empty was made for these redirects: it goes with them.
    const isWhole = indexes.size === map.entries.length && text.slice(map.start, map.end).includes("\n");
    if (!isWhole) return { file, splices: removeMembers(map, indexes) };
    return { file, splices: removeMembers(root, new Set([root.entries.findIndex(({ value }) => value === map)])) };
  }
}
