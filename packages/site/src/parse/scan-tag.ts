import { decodePiece, findWithin } from "../text/bytes.ts";
import type { Dialect, Link, LinkKind } from "./dialect.ts";
import { skipBraces } from "./skip-code.ts";
import { componentId, createSlugger, parameterId } from "./slug.ts";

interface Attribute {
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

type Add = (kind: LinkKind, start: number, end: number) => Link | null;

const media = new Set(["img", "video", "source", "audio", "track", "Image", "Img", "Frame"]);
// Not links of the page: metadata, and elements whose href has another meaning.
const ignored = new Set(["link", "base", "use", "script"]);

function attributeText(text: string, attribute: Attribute | undefined): string | null {
  const value = attribute?.value;
  return value ? text.slice(value.start, value.end) : null;
}

/** A longer one is not a title, and thousands of them may share one end. */
const summaryMax = 1_000;

/** Ids and targets from a tag's attributes. */
export function tagFacts(tag: Tag, text: string, ids: string[], add: Add, dialect: Dialect): void {
  if (tag.closing) return;
  const slug = (title: string): string => createSlugger(dialect.slug).next(title);
  if (dialect.slug === "gitbook" && tag.name === "summary") {
    const close = findWithin(text, "</summary>", tag.end, tag.end + summaryMax);
    if (close !== -1) ids.push(slug(decodePiece(text.slice(tag.end, close)).replace(/<[^>]*>/g, "")));
  }
  for (const attribute of tag.attributes) {
    const { name, value } = attribute;
    if (value === null || value.start === value.end) continue;
    if (name === "id" || (name === "name" && tag.name === "a"))
      ids.push(decodePiece(text.slice(value.start, value.end)));
    else if (name === "href" && !ignored.has(tag.name)) add("href", value.start, value.end);
    else if (name === "to" && (tag.name === "Link" || tag.name === "NavLink")) add("href", value.start, value.end);
    else if (name === "src" && media.has(tag.name)) addMedia(tag, text, value, add);
    else if (name === "poster" && tag.name === "video") add("src", value.start, value.end);
    else if (name === "file" && tag.name === "Snippet" && dialect.slug === "mintlify")
      add("include", value.start, value.end);
    else if (name === "img" && tag.name === "Card") add("src", value.start, value.end);
  }
}

function addMedia(tag: Tag, text: string, value: { start: number; end: number }, add: Add): void {
  // A component may resolve its image in its own way.
  const link = add(/^[a-z]/.test(tag.name) ? "src" : "image", value.start, value.end);
  if (link === null || tag.name !== "img") return;
  const alt = tag.attributes.find((attribute) => attribute.name.toLowerCase() === "alt" || attribute.name === ":alt");
  // An empty alt marks decoration on purpose. Only a missing one is reported.
  if (
    alt === undefined &&
    attributeText(
      text,
      tag.attributes.find((a) => a.name === "role"),
    ) !== "presentation"
  )
    link.noAlt = true;
}

const parameters = new Set(["ParamField", "Param", "ResponseField"]);
const parameterNames = new Set(["query", "path", "body", "header", "name"]);
const titleSizes = new Set(["h2", "h3"]);

/** Creates the ids of Mintlify's components from their titles and names, in page order. */
export function createComponentIds(): (tag: Tag, text: string) => string | null {
  const tabs = createSlugger("mintlify");
  const entries = createSlugger("mintlify");
  const counts = new Map<string, number>();
  let stepsSize = "";

  function countOf(key: string): number {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count;
  }

  return (tag, text) => {
    const value = (name: string): string => {
      const found = tag.attributes.find((attribute) => attribute.name === name)?.value;
      return found ? decodePiece(text.slice(found.start, found.end)).replaceAll("`", "") : "";
    };
    if (parameters.has(tag.name)) {
      const name = tag.attributes.find((attribute) => parameterNames.has(attribute.name))?.name;
      const field = name === undefined ? "" : value(name);
      return field === "" ? null : parameterId(field, countOf(`${field}()`));
    }
    if (tag.name === "Steps") stepsSize = value("titleSize");
    const title = value("title");
    if (tag.attributes.some(({ name }) => name === "id")) return null;
    if (tag.name === "Update") return value("label") === "" ? null : entries.next(value("label"));
    if (title === "") return null;
    if (tag.name === "Tab") return tabs.next(title);
    if (tag.name === "Step") return titleSizes.has(value("titleSize") || stepsSize) ? entries.next(title) : null;
    if (tag.name !== "Accordion" && tag.name !== "View") return null;
    const base = componentId(title.replace(":", "-"));
    const count = countOf(`${tag.name} ${base}`);
    return count === 0 ? base : `${base}-${count}`;
  };
}
