import { underDir } from "../links/target.ts";
import {
  type ArrayLiteral,
  entryOf,
  insertMember,
  type Literal,
  type ObjectLiteral,
  quoteLike,
  removeMembers,
  stringOf,
} from "../literal/literal.ts";
import { encodePiece, indentOf, indexLines, newlineOf, type Splice } from "../text/bytes.ts";
import type { FileEdit, FrameworkContext, Model, Redirect, RedirectPair, RedirectStore } from "./framework.ts";
import { insertLines, rangeOf, textRange, type YamlSource, yamlPairs, yamlScalar, yamlText } from "./yaml-source.ts";

interface ObjectSource {
  file: string;
  text: string;
  /** The object that contains, or will contain, the redirects. */
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
    // An empty multi-line map was created for these redirects, so it is removed with them.
    const isWhole = indexes.size === map.entries.length && text.slice(map.start, map.end).includes("\n");
    if (!isWhole) return { file, splices: removeMembers(map, indexes) };
    return { file, splices: removeMembers(root, new Set([root.entries.findIndex(({ value }) => value === map)])) };
  }
}

/** Adds the redirects of an evaluated configuration that its text does not show. They cannot be edited. */
export function withEvaluated(
  found: { redirects: Redirect[]; store: RedirectStore | null },
  file: string,
  pairs: readonly RedirectPair[],
): { redirects: Redirect[]; store: RedirectStore | null } {
  const shown = new Set(found.redirects.map(({ from }) => from));
  const more = pairs.filter(({ from }) => !shown.has(from)).map((pair) => ({ ...pair, file, line: 1, column: 1 }));
  return { ...found, redirects: [...found.redirects, ...more] };
}

/** `[{ from, to }]` by the names of the two fields, where both are known. */
export function redirectPairs(list: Literal | undefined, [source, target]: readonly [string, string]): RedirectPair[] {
  return (list?.kind === "array" ? list.items : []).flatMap((item) => {
    const from = entryOf(item, source);
    const to = stringOf(entryOf(item, target));
    const sources = from?.kind === "array" ? from.items : [from];
    return to === null ? [] : sources.flatMap((one) => (one?.kind === "string" ? [{ from: one.value, to }] : []));
  });
}

interface ArraySource {
  file: string;
  text: string;
  /** The object that contains, or will contain, the list. */
  root: Literal;
  key: string;
  /** The list itself, if it is in another file. */
  list?: Literal;
  /** The names of a redirect's two fields. */
  names: readonly [string, string];
  /** More fields that each redirect needs, as source text. */
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
    // An empty multi-line list was created for these redirects, so it is removed with them.
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
  const empty = pairs.length === 0 ? emptyMap(text, map) : null;
  if (empty !== null) return { redirects, store: { add: fill, remove: () => null } };
  if (lastKey === null || lastValue === null) return { redirects, store: null };
  return { redirects, store: { add, remove } };

  function fill(added: readonly RedirectPair[]): FileEdit {
    const { start = 0, end = 0, indent = "" } = empty ?? {};
    const lines = added.map(({ from, to }) => `${newlineOf(text)}${indent}${yamlScalar(from)}: ${yamlScalar(to)}`);
    return { file, splices: [{ start, end, text: lines.join("") }] };
  }

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
      // If the last line has no line feed, the one before it is removed.
      if (end === -1)
        splices.push({ start: Math.max(0, lineStart - newlineOf(text).length), end: text.length, text: "" });
      else splices.push({ start: lineStart, end: end + 1, text: "" });
    }
    return splices.length === 0 ? null : { file, splices };
  }
}

/** Where the entries of an empty map go: `name: {}`, or a name without a value, on a line of its own. */
function emptyMap(text: string, map: unknown): { start: number; end: number; indent: string } | null {
  const [from] = rangeOf(map) ?? [];
  if (from === undefined) return null;
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const [line = ""] = /^[^\r\n]*/.exec(text.slice(lineStart)) ?? [];
  const [, indent, name] = /^( *)([\w-]+:)[ \t]*(?:\{[ \t]*\})?[ \t]*$/.exec(line) ?? [];
  if (indent === undefined || name === undefined) return null;
  return { start: lineStart + indent.length + name.length, end: lineStart + line.length, indent: `${indent}  ` };
}

/**
 * Static hosts read redirects from a `_redirects` file next to the served files. Used if the framework has no
 * redirects.
 */
export async function withRedirectsFile(model: Model, context: FrameworkContext): Promise<Model> {
  if (model.redirectStore !== null) return model;
  const file = [...model.publicDirs, ""]
    .map((dir) => underDir(dir, "_redirects"))
    .find((path) => context.files.has(path));
  const text = file === undefined ? null : await context.readText(file);
  if (file === undefined || text === null) return model;
  const redirects: Redirect[] = [];
  const ranges = new Map<Redirect, Splice>();
  let start = 0;
  for (const [number, line] of text.split("\n").entries()) {
    // Other status codes are rewrites or direct responses.
    const found = /^(\/\S*)(\s+)(\S+)(?=\s*$|\s+30\d)/.exec(line);
    if (found !== null) {
      const [, from = "", gap = "", to = ""] = found;
      const at = start + from.length + gap.length;
      const redirect: Redirect = { from, to, file, line: number + 1, column: 1, toRange: [at, at + to.length] };
      redirects.push(redirect);
      ranges.set(redirect, { start, end: Math.min(text.length, start + line.length + 1), text: "" });
    }
    start += line.length + 1;
  }
  return {
    ...model,
    configFiles: [...model.configFiles, file],
    redirects,
    redirectStore: {
      add(pairs) {
        const newline = newlineOf(text);
        const gap = text === "" || text.endsWith("\n") ? "" : newline;
        const lines = pairs.map(({ from, to }) => encodePiece(`${from} ${to} 301${newline}`)).join("");
        return { file, splices: [{ start: text.length, end: text.length, text: gap + lines }] };
      },
      remove: (gone) => ({ file, splices: gone.flatMap((redirect) => ranges.get(redirect) ?? []) }),
    },
  };
}
