import { decodePiece, findWithin } from "../text/bytes.ts";
import type { Dialect } from "./dialect.ts";
import type { Link, LinkKind } from "./facts.ts";
import type { Attribute, Tag } from "./scan-tag.ts";
import { createSlugger } from "./slug.ts";

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
