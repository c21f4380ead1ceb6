import { decodePiece, textStart } from "../text/bytes.ts";
import type { Entry, Literal, ObjectLiteral, StringLiteral } from "./literal.ts";

// Configuration nests only a few levels. Deeper levels are not parsed, so that no input can overflow the stack.
const depthMax = 100;

const openers = "{[(";
const closers = "}])";
const beforeRegex = "(,=:[!&|?{};\n";

interface Reader {
  text: string;
  at: number;
  depth: number;
}

/** Parses a whole file, JSON or a module, as one value with every literal inside. */
export function parseLiteral(text: string): Literal {
  const reader: Reader = { text, at: textStart(text), depth: 0 };
  const children: Literal[] = [];
  const start = reader.at;
  while (reader.at < text.length) {
    const value = readValue(reader, true);
    if (value !== null) children.push(value);
    // A separator or a stray closing bracket at the top level.
    reader.at++;
  }
  const only = children[0];
  if (children.length === 1 && only !== undefined) return only;
  return { kind: "other", start, end: text.length, children };
}

function skipTrivia(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    const c = text.charCodeAt(reader.at);
    if (c <= 32) reader.at++;
    else if (c === 47 && text.charCodeAt(reader.at + 1) === 47) reader.at = indexAfter(text, "\n", reader.at);
    else if (c === 47 && text.charCodeAt(reader.at + 1) === 42) reader.at = indexAfter(text, "*/", reader.at + 2);
    else return;
  }
}

function indexAfter(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

function decodeString(raw: string): string {
  if (!raw.includes("\\")) return decodePiece(raw);
  return decodePiece(raw).replace(/\\(?:u\{?([0-9a-fA-F]{4,6})\}?|([\s\S]))/g, (_, code?: string, char?: string) => {
    if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
    return { n: "\n", t: "\t", r: "\r" }[char ?? ""] ?? char ?? "";
  });
}

function readString(reader: Reader): Literal {
  const { text, at: start } = reader;
  const quote = text.charAt(start);
  let i = start + 1;
  let isPlain = true;
  for (; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === "\\") i++;
    else if (c === quote || (c === "\n" && quote !== "`")) break;
    else if (c === "$" && quote === "`" && text.charAt(i + 1) === "{") isPlain = false;
  }
  const end = Math.min(i + 1, text.length);
  reader.at = end;
  if (!isPlain) return { kind: "other", start, end, children: [] };
  return { kind: "string", start, end, value: decodeString(text.slice(start + 1, i)) } satisfies StringLiteral;
}

function skipRegex(reader: Reader): void {
  const { text } = reader;
  let inClass = false;
  for (let i = reader.at + 1; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === "\\") i++;
    else if (c === "\n") break;
    else if (c === "[") inClass = true;
    else if (c === "]") inClass = false;
    else if (c === "/" && !inClass) {
      reader.at = i + 1;
      return;
    }
  }
  reader.at++;
}

const typeAssertion = /^\s*(?:as|satisfies)\s/;

/** Reads up to a comma, a semicolon or a closing bracket, and does not consume it. Null if there is no value. */
function readValue(reader: Reader, atTop = false): Literal | null {
  const { text } = reader;
  skipTrivia(reader);
  const start = reader.at;
  const parts: Literal[] = [];
  let hasOther = false;
  let last = "\n";
  let end = start;
  while (reader.at < text.length) {
    const c = text.charAt(reader.at);
    if (c === "," || (c === ";" && !atTop) || closers.includes(c)) break;
    if (c === '"' || c === "'" || c === "`") parts.push(readString(reader));
    else if (openers.includes(c)) parts.push(readBracket(reader, c));
    else if (c === "/" && beforeRegex.includes(last)) {
      hasOther = true;
      skipRegex(reader);
    } else {
      hasOther = true;
      reader.at++;
    }
    last = c;
    end = reader.at;
    skipTrivia(reader);
  }
  if (end === start) return null;
  const only = parts[0];
  if (parts.length === 1 && only !== undefined) {
    // A TypeScript assertion does not change the value.
    if (!hasOther || (only.start === start && typeAssertion.test(text.slice(only.end, only.end + 40)))) return only;
  }
  return { kind: "other", start, end, children: parts };
}

function readBracket(reader: Reader, open: string): Literal {
  if (reader.depth >= depthMax) {
    reader.at = reader.text.length;
    return { kind: "other", start: reader.at, end: reader.at, children: [] };
  }
  reader.depth++;
  const literal = open === "{" ? readObject(reader) : readSequence(reader, open);
  reader.depth--;
  return literal;
}

function readSequence(reader: Reader, open: string): Literal {
  const start = reader.at;
  const items: Literal[] = [];
  reader.at++;
  for (;;) {
    const value = readValue(reader);
    if (value !== null) items.push(value);
    if (reader.at >= reader.text.length) break;
    const c = reader.text.charAt(reader.at);
    reader.at++;
    if (closers.includes(c)) break;
  }
  const end = reader.at;
  return open === "[" ? { kind: "array", start, end, items } : { kind: "other", start, end, children: items };
}

const bareKey = /[A-Za-z_$][\w$]*(?=\s*:)/y;

function readKey(reader: Reader): { key: string; keyStart: number } | null {
  const { text, at } = reader;
  const c = text.charAt(at);
  if (c === '"' || c === "'") {
    const name = readString(reader);
    skipTrivia(reader);
    if (name.kind === "string" && text.charAt(reader.at) === ":") return { key: name.value, keyStart: at };
    reader.at = at;
    return null;
  }
  bareKey.lastIndex = at;
  const found = bareKey.exec(text);
  if (found === null) return null;
  reader.at = bareKey.lastIndex;
  skipTrivia(reader);
  return { key: found[0], keyStart: at };
}

function readObject(reader: Reader): ObjectLiteral {
  const start = reader.at;
  const entries: Entry[] = [];
  const children: Literal[] = [];
  reader.at++;
  for (;;) {
    skipTrivia(reader);
    const key = readKey(reader);
    if (key !== null) reader.at++;
    const value = readValue(reader);
    if (value !== null) {
      if (key === null) children.push(value);
      else entries.push({ ...key, value });
    }
    if (reader.at >= reader.text.length) break;
    const c = reader.text.charAt(reader.at);
    reader.at++;
    if (closers.includes(c)) break;
  }
  return { kind: "object", start, end: reader.at, entries, children };
}
