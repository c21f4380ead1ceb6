import { textLines } from "./written-links.ts";

/** Whether a heading or a tag of a page may have an id, by any rule that generators use. */
export function mayHave(text: string, id: string): boolean {
  if (id === "") return true;
  for (const mark of [`#${id}}`, `#${id}]`, `="${id}"`, `='${id}'`, `(${id})=`, `^${id}]`])
    if (text.includes(mark)) return true;
  const goal = letters(id);
  for (const title of titlesOf(text)) {
    const plain = title.replace(/\]\([^)]*\)|[`*[\]]|<[^>]*>/g, "").trim();
    if (spellings(plain).has(id)) return true;
    // A second heading of the same text gets a number.
    if (letters(plain) === goal.replace(/\d+$/, "") && /[-_]\d+$/.test(id)) return true;
  }
  return false;
}

/** Texts that generators make ids from: headings, and the titles of components. An id that is written replaces its own. */
function* titlesOf(text: string): Generator<string> {
  let last = "";
  for (const { line } of textLines(text)) {
    const title = /^[ \t>]*#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*\r?$/.exec(line)?.[1] ?? (isUnderline.test(line) ? last : "");
    if (title !== "" && !/(?:\{:?\s*#[^}]*\}|\[#[^\]]*\])$/.test(title)) yield title.replace(/\{[^}]*\}$/, "");
    for (const [, , value = ""] of line.matchAll(/\b(?:title|label|name|header|heading)=\{?(["'`])(.+?)\1/g))
      yield value;
    for (const [, value = ""] of line.matchAll(/<h\d[^>]*>(.+?)<\/h\d>/g)) yield value;
    last = line.trim();
  }
}

const isUnderline = /^ {0,3}(?:=+|-{2,})[ \t]*\r?$/;

function letters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function spellings(title: string): Set<string> {
  const lower = title.toLowerCase();
  const hyphened = lower.replace(/\s/g, "-");
  const github = hyphened.replace(/[^\p{L}\p{M}\p{N}_-]/gu, "");
  const found = [hyphened, github, github.replace(/-{2,}/g, "-"), lower.replace(/[^\p{L}\p{N}]+/gu, "-")];
  return new Set(found.flatMap((one) => [one, one.replace(/^-+|-+$/g, ""), one.replace(/-+$/, "")]));
}
