import { findWithin } from "../text/bytes.ts";
import { skipBraces } from "./skip-code.ts";

export interface Attribute {
  name: string;
  /** The byte range of the value, without quotes. Null for a bare attribute, or an expression other than one string. */
  value: { start: number; end: number } | null;
}

export interface Tag {
  name: string;
  closing: boolean;
  attributes: Attribute[];
  end: number;
}

function isNameStart(c: number): boolean {
  return (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36;
}

function isNameChar(c: number): boolean {
  return isNameStart(c) || (c >= 48 && c <= 57) || c === 45 || c === 46 || c === 58;
}

/** `<page.md>` is text, not a tag. */
function isHtmlNameChar(c: number): boolean {
  return isNameChar(c) && c !== 46 && c !== 58 && c !== 95 && c !== 36;
}

function isSpace(c: number): boolean {
  return c === 32 || c === 10 || c === 9 || c === 13 || c === 12;
}

function skipSpace(text: string, from: number, end: number): number {
  let i = from;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  return i;
}

// Attribute names in HTML and Vue: anything except these.
function isAttributeChar(c: number): boolean {
  return !isSpace(c) && c !== 34 && c !== 39 && c !== 62 && c !== 47 && c !== 61 && c !== 60 && c !== 96;
}

// Letters, and the prefixes of Vue attributes.
function isAttributeStart(c: number): boolean {
  return isNameStart(c) || c === 58 || c === 64 || c === 35;
}

/** `{"text"}` and {`text`} are strings. Any other expression is unknown. */
function stringInBraces(text: string, start: number, end: number): { start: number; end: number } | null {
  const first = skipSpace(text, start + 1, end);
  const quote = text.charAt(first);
  if (quote !== '"' && quote !== "'" && quote !== "`") return null;
  const close = findWithin(text, quote, first + 1, end);
  if (close === -1 || skipSpace(text, close + 1, end) !== end - 1) return null;
  const inner = text.slice(first + 1, close);
  return inner.includes("\\") || inner.includes("${") ? null : { start: first + 1, end: close };
}

/** After this many unclosed openings, the text is not code, and searching again would take quadratic time. */
export const failuresMax = 40;

/** Reads the HTML or JSX tag that starts here. Null if there is none. */
export function scanTag(text: string, start: number, end: number, isJsx: boolean): Tag | null {
  let i = start + 1;
  const closing = text.charCodeAt(i) === 47;
  if (closing) i++;
  const nameStart = i;
  if (!isNameStart(text.charCodeAt(i))) {
    // `<>` and `</>` are JSX fragments.
    return isJsx && text.charCodeAt(i) === 62 ? { name: "", closing, attributes: [], end: i + 1 } : null;
  }
  while (i < end && (isJsx ? isNameChar : isHtmlNameChar)(text.charCodeAt(i))) i++;
  const name = text.slice(nameStart, i);
  const attributes: Attribute[] = [];
  while (i < end) {
    const before = i;
    i = skipSpace(text, i, end);
    const c = text.charCodeAt(i);
    if (i >= end) return null;
    if (c === 62) return { name, closing, attributes, end: i + 1 };
    if (c === 47) {
      if (text.charCodeAt(i + 1) === 62) return { name, closing, attributes, end: i + 2 };
      return null;
    }
    if (c === 123 && isJsx) {
      i = skipBraces(text, i, end);
      if (i === -1) return null;
      continue;
    }
    if (i === before || !isAttributeStart(c)) return null;
    const attributeStart = i;
    while (i < end && isAttributeChar(text.charCodeAt(i))) i++;
    const attribute: Attribute = { name: text.slice(attributeStart, i), value: null };
    attributes.push(attribute);
    const equals = skipSpace(text, i, end);
    if (text.charCodeAt(equals) !== 61) continue;
    i = skipSpace(text, equals + 1, end);
    const quote = text.charCodeAt(i);
    if (quote === 34 || quote === 39) {
      const close = findWithin(text, quote === 34 ? '"' : "'", i + 1, end);
      if (close === -1) return null;
      attribute.value = { start: i + 1, end: close };
      i = close + 1;
    } else if (quote === 123 && isJsx) {
      const after = skipBraces(text, i, end);
      if (after === -1) return null;
      attribute.value = stringInBraces(text, i, after);
      i = after;
    } else {
      if (isJsx) return null;
      const valueStart = i;
      while (i < end && !isSpace(text.charCodeAt(i)) && text.charCodeAt(i) !== 62) i++;
      if (i === valueStart) return null;
      attribute.value = { start: valueStart, end: i };
    }
  }
  return null;
}
