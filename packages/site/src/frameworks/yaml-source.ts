import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { decodePiece, encodePiece, indentOf, newlineOf, type Place, type Splice } from "../text/bytes.ts";

/** A parsed YAML file, with the offsets of its byte string. */
export interface YamlSource {
  root: YAMLMap | null;
  place(offset: number): Place;
}

export function readYamlSource(text: string): YamlSource {
  const lines = new LineCounter();
  try {
    // Custom tags of the site's build are not errors.
    const document = parseDocument(text, {
      lineCounter: lines,
      logLevel: "silent",
      prettyErrors: false,
      strict: false,
      // The parser compares each key with all others: 10,000 keys took 26 s.
      uniqueKeys: false,
    });
    const root = isMap(document.contents) ? document.contents : null;
    return { root, place: (offset) => ({ line: lines.linePos(offset).line, column: lines.linePos(offset).col }) };
  } catch {
    return { root: null, place: () => ({ line: 1, column: 1 }) };
  }
}

export function yamlText(node: unknown): string | null {
  return isScalar(node) && typeof node.value === "string" ? decodePiece(node.value) : null;
}

export function yamlGet(map: unknown, key: string): unknown {
  return isMap(map) ? (map.get(key, true) ?? null) : null;
}

export function yamlPairs(map: unknown): Pair<Scalar, unknown>[] {
  return isMap(map) ? (map.items as Pair<Scalar, unknown>[]) : [];
}

export function yamlItems(seq: unknown): unknown[] {
  return isSeq(seq) ? (seq as YAMLSeq).items : [];
}

export function rangeOf(node: unknown): readonly [number, number] | null {
  const range = (node as { range?: [number, number, number] | null } | null)?.range;
  return range ? [range[0], range[1]] : null;
}

/** The byte range of a scalar's text, without quotes. */
export function textRange(text: string, node: unknown): readonly [number, number] | null {
  const range = rangeOf(node);
  if (range === null) return null;
  const isQuoted = text.charAt(range[0]) === '"' || text.charAt(range[0]) === "'";
  return isQuoted ? [range[0] + 1, range[1] - 1] : range;
}

/** A string as a YAML scalar, quoted only if needed. */
export function yamlScalar(value: string): string {
  const isPlain =
    /^[\p{L}\p{N}/_(][^:#\n]*$/u.test(value) &&
    !/\s$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off|[\d.+-]+)$/i.test(value);
  return encodePiece(isPlain ? value : JSON.stringify(value));
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", Math.max(0, offset - 1));
  if (end === -1) return text.length;
  return text.charCodeAt(end - 1) === 13 ? end - 1 : end;
}

/** Inserts lines after the line of an offset, with the indentation of a neighbouring line. */
export function insertLines(text: string, after: number, neighbour: number, lines: readonly string[]): Splice {
  const newline = newlineOf(text);
  const at = lineEnd(text, after);
  const indent = indentOf(text, neighbour);
  return { start: at, end: at, text: lines.map((line) => newline + indent + line).join("") };
}
