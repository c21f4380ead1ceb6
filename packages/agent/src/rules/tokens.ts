/**
 * A prompt split into words, quotes, fenced blocks and punctuation. Linear time: a prompt may have 100,000 characters
 * and be hostile.
 */
export type Token = { start: number; end: number } & (
  | { kind: "word"; text: string; lower: string }
  /** `isPunctuated`: punctuation follows directly. */
  | { kind: "quoted"; text: string; isPunctuated: boolean }
  | { kind: "fence"; text: string }
  | { kind: "comma" | "colon" | "stop" | "question" | "break" | "item" }
);

type Tokens =
  | { kind: "tokens"; text: string; tokens: readonly Token[] }
  /** An unclosed quote or fence. */
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
    // A lone closing quotation mark is a word that no form matches.
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

/** A word, with its leading and trailing punctuation as separate tokens. */
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

const opening = /(`{3,}|~{3,})[^`\n]*(?:\n|$)/y;
const indentMax = 20;

/** A fenced block that starts here; also after a colon at the end of a line. */
function fenceAt(text: string, start: number): Token | "unclosed" | null {
  const mark = text.charAt(start);
  if (mark !== "`" && mark !== "~") return null;
  const indent = indentBefore(text, start);
  if (mark === "~" && indent === null) return null;
  opening.lastIndex = start;
  const [line, fence] = opening.exec(text) ?? [];
  if (line === undefined || fence === undefined) return null;

  const lines: string[] = [];
  for (let at = start + line.length; at < text.length; ) {
    const lineEnd = text.indexOf("\n", at);
    const content = text.slice(at, lineEnd === -1 ? text.length : lineEnd);
    if (closes(content.trim(), fence)) {
      return { kind: "fence", text: lines.join("\n"), start, end: at + content.length };
    }
    lines.push(withoutIndent(content, indent ?? 0));
    at += content.length + 1;
  }
  return "unclosed";
}

function closes(line: string, fence: string): boolean {
  return line.startsWith(fence) && line === fence.charAt(0).repeat(line.length);
}

/** The indentation of a line that starts here. Null if other text is before it. */
function indentBefore(text: string, at: number): number | null {
  for (let back = 0; back <= indentMax; back += 1) {
    const before = text.charAt(at - back - 1);
    if (before === "" || before === "\n") return back;
    if (before !== " " && before !== "\t") return null;
  }
  return null;
}

function withoutIndent(line: string, indent: number): string {
  const own = line.length - line.trimStart().length;
  return line.slice(Math.min(own, indent));
}

/** Opening mark → the marks that may close it. */
const pairs: Readonly<Record<string, string>> = { '"': '"', "“": "”", "”": "”", "„": "“”", "«": "»" };
const apostrophes: Readonly<Record<string, string>> = { "'": "'", "‘": "’" };
const beforeApostrophe = /[\s,;:(]/;
const afterApostrophe = /[\s.,;:!?)]/;

/**
 * A quotation that starts here, with any common quotation marks. `openUntil` remembers from where on a mark is never
 * closed.
 */
function quotationAt(text: string, start: number, openUntil: Map<string, number>): Token | "unclosed" | null {
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

/** Single quotes are also apostrophes: they quote only from a word's start to a word's end on the same line. */
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
