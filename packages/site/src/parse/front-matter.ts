import { createRequire } from "node:module";
import { decodePiece } from "../text/bytes.ts";
import type { FrontMatter, Scalar } from "./dialect.ts";

// Loaded on first use: most sites never need them, and each thread would pay the cost at its start.
const load = createRequire(import.meta.url);

// A fence that is not closed within this many bytes is a thematic break, not front matter.
const bytesMax = 256 * 1024;
const opening = /(---|\+\+\+)[ \t]*\r?\n/y;

function findEnd(text: string, from: number, fence: string): { end: number; bodyStart: number } | null {
  const limit = Math.min(text.length, from + bytesMax);
  let line = from;
  while (line < limit) {
    let next = text.indexOf("\n", line);
    if (next === -1) next = text.length;
    if (text.startsWith(fence, line) && text.slice(line + 3, next).trim() === "") {
      return { end: line, bodyStart: Math.min(next + 1, text.length) };
    }
    line = next + 1;
  }
  return null;
}

// Most front matter is a few plain lines; the full YAML parser is a hundred times slower.
const plainLine =
  /^([A-Za-z_][\w-]*):(?:[ \t]+(?:"([^"\\]*)"|'([^']*)'|\[([^[\]{}"'#:&*!|>%@`\\]*)\]|([A-Za-z0-9/(\x80-\xff](?:[^:#]|:(?=[^\s])|(?<=\S)#)*)))?[ \t]*$/;
const listLine = /^[ \t]*- ([A-Za-z0-9/(\x80-\xff](?:[^:#]|:(?=[^\s])|(?<=\S)#)*)$/;
const yamlScalar = /^(?:null|yes|no|on|off|y|n|~|[-+]?[.\d][\w.+:-]*)$/i;

/** A plain scalar. Undefined if YAML may parse it differently. */
function plainScalar(text: string): Scalar | undefined {
  const bare = text.trim();
  if (/^[1-9]\d{0,8}$/.test(bare)) return Number(bare);
  if (bare === "true" || bare === "false") return bare === "true";
  return yamlScalar.test(bare) || /^(?:true|false)$/i.test(bare) ? undefined : decodePiece(bare);
}

function plainScalars(texts: readonly string[]): Scalar[] | undefined {
  const scalars = texts.map(plainScalar);
  return scalars.includes(undefined) ? undefined : (scalars as Scalar[]);
}

function readPlain(source: string): Record<string, Scalar | Scalar[]> | null {
  const fields: Record<string, Scalar | Scalar[]> = {};
  let list: Scalar[] | null = null;
  for (const line of source.split("\n")) {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text === "" || text.startsWith("#")) continue;
    const item = list === null ? null : listLine.exec(text);
    if (item !== null) {
      const scalar = plainScalar(item[1] as string);
      if (scalar === undefined) return null;
      list?.push(scalar);
      continue;
    }
    const found = plainLine.exec(text);
    if (found === null || list?.length === 0) return null;
    list = null;
    const [, name = "", double, single, flow, bare] = found;
    if (Object.hasOwn(fields, name)) return null;
    const quotedText = double ?? single;
    if (quotedText !== undefined) fields[name] = decodePiece(quotedText);
    else if (flow !== undefined || bare !== undefined) {
      const value =
        bare !== undefined
          ? plainScalar(bare)
          : plainScalars((flow ?? "").split(",").filter((one) => one.trim() !== ""));
      if (value === undefined) return null;
      fields[name] = value;
    } else {
      list = [];
      fields[name] = list;
    }
  }
  return list?.length === 0 ? null : fields;
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function keepScalars(data: unknown): Record<string, Scalar | Scalar[]> {
  const fields: Record<string, Scalar | Scalar[]> = {};
  if (typeof data !== "object" || data === null) return fields;
  for (const [name, value] of Object.entries(data)) {
    if (isScalar(value)) fields[name] = value;
    else if (value instanceof Date) fields[name] = value.toISOString();
    else if (Array.isArray(value) && value.every(isScalar)) fields[name] = value;
  }
  return fields;
}

type Read = Pick<FrontMatter, "fields" | "problem">;

function readYaml(source: string): Read {
  const { isScalar: isYamlScalar, LineCounter, parseDocument, visit } = load("yaml") as typeof import("yaml");
  const lines = new LineCounter();
  const text = decodePiece(source);
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The library's own look for keys that stand twice takes quadratic time.
    uniqueKeys: false,
    logLevel: "silent",
  });
  let error: { message: string; pos: readonly number[] } | undefined = document.errors[0];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isYamlScalar(key)) continue;
        if (seen.has(key.value)) error ??= { message: "Map keys must be unique", pos: key.range ?? [0] };
        seen.add(key.value);
      }
    },
  });
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0] ?? 0);
    return { fields: {}, problem: { message: error.message, line: line + 1, column: col } };
  }
  const data: unknown = document.toJS({ maxAliasCount: 20 });
  if (data !== null && (typeof data !== "object" || Array.isArray(data))) {
    return { fields: {}, problem: { message: "front matter must be a list of fields", line: 2, column: 1 } };
  }
  return { fields: keepScalars(data) };
}

function readToml(source: string): Read {
  const { parse: parseToml } = load("smol-toml") as typeof import("smol-toml");
  return { fields: keepScalars(parseToml(decodePiece(source))) };
}

function read(source: string, format: "yaml" | "toml"): Read {
  try {
    if (format === "toml") return readToml(source);
    const fields = readPlain(source);
    return fields === null ? readYaml(source) : { fields };
  } catch (error) {
    const { line = 1, column = 1 } = error as { line?: number; column?: number };
    const message = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return { fields: {}, problem: { message: message ?? "unreadable", line: line + 1, column } };
  }
}

/** Reads the front matter at the start of a page. Null if there is none. */
export function readFrontMatter(text: string, from: number): FrontMatter | null {
  opening.lastIndex = from;
  const open = opening.exec(text);
  if (open === null) return null;
  const start = opening.lastIndex;
  const close = findEnd(text, start, open[1] as string);
  if (close === null) return null;
  const format = open[1] === "---" ? "yaml" : "toml";
  return { format, start, ...close, ...read(text.slice(start, close.end), format) };
}

const linkField = /^([ \t]*(?:-[ \t]+)?link:[ \t]*(["']?))(\.{0,2}\/[^\s"'{}]*)\2[ \t]*\r?$/gm;

/** The ranges of links in front matter, such as a home page's buttons. */
export function* frontMatterLinks(source: string): Generator<readonly [number, number]> {
  for (const { index, 1: before = "", 3: target = "" } of source.matchAll(linkField)) {
    yield [index + before.length, index + before.length + target.length];
  }
}
