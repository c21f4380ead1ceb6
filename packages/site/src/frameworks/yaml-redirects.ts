import { newlineOf, type Splice } from "../text/splice.ts";
import type { FileEdit, Redirect, RedirectPair, RedirectStore } from "./framework.ts";
import { insertLines, rangeOf, textRange, type YamlSource, yamlPairs, yamlScalar, yamlText } from "./yaml-source.ts";

/** Redirects as a map from old to new in a YAML file. */
export function mapRedirects(
  file: string,
  text: string,
  source: YamlSource,
  map: unknown,
): { redirects: Redirect[]; store: RedirectStore | null } {
  const pairs = yamlPairs(map);
  const redirects: Redirect[] = [];
  for (const { key, value } of pairs) {
    const from = yamlText(key);
    const to = yamlText(value);
    const range = rangeOf(key);
    const toRange = textRange(text, value);
    if (from === null || to === null || range === null || toRange === null) continue;
    redirects.push({ from, to, file, ...source.place(range[0]), toRange });
  }
  const last = pairs.at(-1);
  const lastKey = rangeOf(last?.key);
  const lastValue = rangeOf(last?.value);
  if (lastKey === null || lastValue === null) return { redirects, store: null };
  return { redirects, store: { add, remove } };

  function add(added: readonly RedirectPair[]): FileEdit {
    const lines = added.map(({ from, to }) => `${yamlScalar(from)}: ${yamlScalar(to)}`);
    return {
      file,
      splices: [
        insertLines(
          text,
          (lastValue as readonly [number, number])[1],
          (lastKey as readonly [number, number])[0],
          lines,
        ),
      ],
    };
  }

  function remove(gone: readonly Redirect[]): FileEdit | null {
    const splices: Splice[] = [];
    for (const { key, value } of pairs) {
      if (!gone.some((redirect) => redirect.from === yamlText(key) && redirect.to === yamlText(value))) continue;
      const start = rangeOf(key)?.[0] ?? 0;
      const lineStart = text.lastIndexOf("\n", start - 1) + 1;
      const end = text.indexOf("\n", rangeOf(value)?.[1] ?? start);
      // The last line may have no line feed of its own: then the one before goes.
      if (end === -1)
        splices.push({ start: Math.max(0, lineStart - newlineOf(text).length), end: text.length, text: "" });
      else splices.push({ start: lineStart, end: end + 1, text: "" });
    }
    return splices.length === 0 ? null : { file, splices };
  }
}
