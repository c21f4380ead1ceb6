import { fenceAt } from "./fences.ts";
import { quotationAt } from "./quotations.ts";

/**
 * A prompt cut into words, quotations, fenced blocks and punctuation. One pass, each character looked at a bounded
 * number of times: a prompt may have 100,000 of them and mean harm.
 */
export type Token = { start: number; end: number } & (
  | { kind: "word"; text: string; lower: string }
  /** `isPunctuated`: a comma, a full stop or the like follows at once. */
  | { kind: "quoted"; text: string; isPunctuated: boolean }
  | { kind: "fence"; text: string }
  | { kind: "comma" | "colon" | "stop" | "question" | "break" | "item" }
);

export type Tokens =
  | { kind: "tokens"; text: string; tokens: readonly Token[] }
  /** A quotation mark or a fence without its end. */
  | { kind: "unclosed"; excerpt: string };

const punctuation: Readonly<Record<string, "comma" | "colon" | "stop" | "question">> = {
  ",": "comma",
  ":": "colon",
  ".": "stop",
  "!": "stop",
  ";": "stop",
  "?": "question",
};

const gap = /[^\S\n]+/y;
const lineEnds = /\n\s*/y;
const anySpace = /\s*/y;
const bullet = /(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-z]\))[ \t]+(?:\[ \][ \t]+)?/y;
const word = /[^\s"“”„«»`]+/y;

export function tokenize(prompt: string): Tokens {
  const text = prompt.replaceAll(/\r\n?/g, "\n");
  const tokens: Token[] = [];
  const apostrophesOpenUntil = new Map<string, number>();
  let at = lengthAt(anySpace, text, 0);
  at += lengthAt(bullet, text, at);
  while (at < text.length) {
    const gapLength = lengthAt(gap, text, at);
    if (gapLength > 0) {
      at += gapLength;
      continue;
    }
    const linesLength = lengthAt(lineEnds, text, at);
    if (linesLength > 0) {
      const bulletLength = lengthAt(bullet, text, at + linesLength);
      const isBlank = text.slice(at + 1, at + linesLength).includes("\n");
      tokens.push({ kind: bulletLength > 0 || isBlank ? "item" : "break", start: at, end: at + linesLength });
      at += linesLength + bulletLength;
      continue;
    }
    const block = fenceAt(text, at) ?? quotationAt(text, at, apostrophesOpenUntil);
    if (block === "unclosed") return { kind: "unclosed", excerpt: text.slice(at, at + 200) };
    if (block) {
      tokens.push(block);
      at = block.end;
      continue;
    }
    // A closing quotation mark on its own is a word that no form knows.
    const length = lengthAt(word, text, at) || 1;
    pushWord(tokens, text.slice(at, at + length), at);
    at += length;
  }
  return { kind: "tokens", text, tokens };
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** A word, with the punctuation at its ends as tokens of their own. */
function pushWord(tokens: Token[], run: string, start: number): void {
  let first = 0;
  let last = run.length;
  while (first < last && ",;:!?".includes(run.charAt(first))) first += 1;
  while (last > first && ",;:!?.".includes(run.charAt(last - 1))) last -= 1;
  pushPunctuation(tokens, run.slice(0, first), start);
  if (last > first) {
    const text = run.slice(first, last);
    const lower = text.toLowerCase().replaceAll("’", "'");
    tokens.push({ kind: "word", text, lower, start: start + first, end: start + last });
  }
  pushPunctuation(tokens, run.slice(last), start + last);
}

function pushPunctuation(tokens: Token[], marks: string, start: number): void {
  for (let index = 0; index < marks.length; index += 1) {
    const kind = punctuation[marks.charAt(index)];
    if (kind) tokens.push({ kind, start: start + index, end: start + index + 1 });
  }
}
