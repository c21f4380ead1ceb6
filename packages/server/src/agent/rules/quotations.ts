import type { Token } from "./tokens.ts";

/** Opening mark → the marks that may close it. */
const pairs: Readonly<Record<string, string>> = { '"': '"', "“": "”", "”": "”", "„": "“”", "«": "»" };
const apostrophes: Readonly<Record<string, string>> = { "'": "'", "‘": "’" };
const beforeApostrophe = /[\s,;:(]/;
const afterApostrophe = /[\s.,;:!?)]/;

/** A quotation that begins here, in any of the usual marks. `openUntil` remembers, a mark, where none closes any more. */
export function quotationAt(text: string, start: number, openUntil: Map<string, number>): Token | "unclosed" | null {
  const mark = text.charAt(start);
  if (mark === "`") return codeAt(text, start);
  const closing = pairs[mark];
  if (closing !== undefined) return until(text, start, firstOf(text, closing, start + 1));
  return apostrophes[mark] === undefined ? null : singleAt(text, start, apostrophes[mark], openUntil);
}

function codeAt(text: string, start: number): Token | "unclosed" {
  const length = runAt(text, start);
  for (let at = start + length; at < text.length && text.charAt(at) !== "\n"; ) {
    const closing = runAt(text, at);
    if (closing === length) return quoted(text, { start, end: at + length }, length);
    at += Math.max(1, closing);
  }
  return "unclosed";
}

/** Single quotes are apostrophes too: one quotes only at a word's start, and ends only at a word's end, on its line. */
function singleAt(
  text: string,
  start: number,
  closing: string,
  openUntil: Map<string, number>,
): Token | "unclosed" | null {
  if (start > 0 && !beforeApostrophe.test(text.charAt(start - 1))) return null;
  if (start < (openUntil.get(closing) ?? 0)) return null;
  let at = start + 1;
  for (; at < text.length && text.charAt(at) !== "\n"; at += 1) {
    const isWordEnd = at + 1 === text.length || afterApostrophe.test(text.charAt(at + 1));
    if (text.charAt(at) === closing && isWordEnd) return until(text, start, at);
  }
  openUntil.set(closing, at);
  return null;
}

function until(text: string, start: number, end: number): Token | "unclosed" {
  return end === -1 ? "unclosed" : quoted(text, { start, end: end + 1 }, 1);
}

function quoted(text: string, { start, end }: { start: number; end: number }, markLength: number): Token {
  const isPunctuated = ".,;:!?".includes(text.charAt(end) || " ");
  return { kind: "quoted", text: text.slice(start + markLength, end - markLength), isPunctuated, start, end };
}

function firstOf(text: string, marks: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (marks.includes(text.charAt(at))) return at;
  }
  return -1;
}

function runAt(text: string, at: number): number {
  let end = at;
  while (text.charAt(end) === "`") end += 1;
  return end - at;
}
