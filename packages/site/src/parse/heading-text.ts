import { normalizeLabel } from "./blocks.ts";
import { decodeEntities, readDestination } from "./destination.ts";
import type { Dialect } from "./dialect.ts";
import { scanTag } from "./scan-tag.ts";
import { skipBraces } from "./skip-code.ts";

const lengthMax = 2000;
const special = /[\\`*_[\]<&{!~]/;

/** A heading's visible text, from which its id is derived: no markers, targets or tags. */
export function headingText(source: string, dialect: Dialect, labels: ReadonlySet<string>): string {
  // A longer text is not a real heading, and matching its brackets would take quadratic time.
  if (source.length > lengthMax || !special.test(source)) return source;
  return plainEmphasis(flatten(source, dialect, labels, 0));
}

/** Several dashes as one long one, as Astro has them before it creates ids. Not in code, nor behind a backslash. */
export function withLongDashes(source: string): string {
  if (source.length > lengthMax || !source.includes("--")) return source;
  return source.replace(/\\[\s\S]|(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)|-{2,}/g, (piece) =>
    piece.startsWith("-") ? "—" : piece,
  );
}

function protect(text: string): string {
  return text.replace(/[*_~]/g, `${shield}$&`);
}

function ticksEnd(source: string, at: number): number {
  let end = at;
  while (source.charCodeAt(end) === 96) end++;
  return end;
}

function codeSpan(source: string, at: number): { text: string; after: number } | null {
  const open = ticksEnd(source, at);
  const ticks = source.slice(at, open);
  for (let i = source.indexOf(ticks, open); i !== -1; i = source.indexOf(ticks, i)) {
    const close = ticksEnd(source, i);
    if (close - i === ticks.length) {
      const inner = source.slice(open, i).replace(/\r?\n/g, " ");
      const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "";
      return { text: isPadded ? inner.slice(1, -1) : inner, after: close };
    }
    i = close;
  }
  return null;
}

/** The last index of the comment that starts here, or the same index. */
function commentEnd(source: string, at: number): number {
  const close = source.startsWith("<!--", at) ? source.indexOf("-->", at) : -1;
  return close === -1 ? at : close + 2;
}

/** The index of the `]` that closes the `[` at open, or -1. */
function closingBracket(source: string, open: number): number {
  let depth = 0;
  for (let i = open; i < source.length; i++) {
    const c = source.charCodeAt(i);
    if (c === 92) i++;
    else if (c === 96) i = (codeSpan(source, i)?.after ?? ticksEnd(source, i)) - 1;
    else if (c === 60) i = commentEnd(source, i);
    else if (c === 91) depth++;
    else if (c === 93 && --depth === 0) return i;
  }
  return -1;
}

const hardBreak = /^(?:\\| {2,})\r?\n/;
const autolink = /^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)>/;

function flatten(source: string, dialect: Dialect, labels: ReadonlySet<string>, depth: number): string {
  const isMdx = dialect.syntax === "mdx";
  let out = "";
  let i = 0;
  while (i < source.length) {
    const c = source.charCodeAt(i);
    if ((c === 92 || c === 32) && hardBreak.test(source.slice(i, i + 200))) {
      i = source.indexOf("\n", i) + 1;
    } else if (c === 92 && /[!-/:-@[-`{-~]/.test(source.charAt(i + 1))) {
      out += protect(source.charAt(i + 1));
      i += 2;
    } else if (c === 96) {
      const code = codeSpan(source, i);
      out += code === null ? source.slice(i, ticksEnd(source, i)) : protect(code.text);
      i = code?.after ?? ticksEnd(source, i);
    } else if (c === 91 && depth < 8) {
      const close = closingBracket(source, i);
      const after = close === -1 ? -1 : linkEnd(source, i, close, labels);
      if (after !== -1 && source.charCodeAt(i + 1) === 94) {
        i = close + 1;
        continue;
      }
      // Links cannot contain links: of two, the inner one is the link.
      if (after === -1 || (!out.endsWith("!") && hasLink(source.slice(i + 1, close), labels))) {
        out += "[";
        i++;
        continue;
      }
      const isImage = out.endsWith("!");
      if (isImage) out = out.slice(0, -1);
      else out += flatten(source.slice(i + 1, close), dialect, labels, depth + 1);
      i = after;
    } else if (c === 60 && !isMdx && autolink.test(source.slice(i))) {
      const address = autolink.exec(source.slice(i))?.[1] ?? "";
      out += protect(address);
      i += address.length + 2;
    } else if (c === 60) {
      const tag = source.startsWith("<!--", i) ? null : scanTag(source, i, source.length, isMdx);
      const comment = tag === null && source.startsWith("<!--", i) ? source.indexOf("-->", i) : -1;
      if (tag === null && comment === -1) out += "<";
      i = tag?.end ?? (comment === -1 ? i + 1 : comment + 3);
    } else if (c === 123 && isMdx) {
      const after = skipBraces(source, i, source.length);
      if (after === -1) out += "{";
      i = after === -1 ? i + 1 : after;
    } else if (c === 38) {
      const close = source.indexOf(";", i);
      const whole = close === -1 ? "&" : source.slice(i, close + 1);
      const decoded = decodeEntities(whole);
      out += decoded === whole ? "&" : protect(decoded);
      i += decoded === whole ? 1 : whole.length;
    } else {
      out += source.charAt(i);
      i++;
    }
  }
  return out;
}

function hasLink(source: string, labels: ReadonlySet<string>): boolean {
  for (let i = 0; i < source.length; i++) {
    const c = source.charCodeAt(i);
    if (c === 92) i++;
    else if (c === 96) i = (codeSpan(source, i)?.after ?? ticksEnd(source, i)) - 1;
    else if (c === 60) i = commentEnd(source, i);
    else if (c === 91) {
      const close = closingBracket(source, i);
      const after = close === -1 ? -1 : linkEnd(source, i, close, labels);
      if (after === -1) continue;
      if (source.charAt(i - 1) !== "!") return true;
      i = after - 1;
    }
  }
  return false;
}

function linkEnd(source: string, open: number, close: number, labels: ReadonlySet<string>): number {
  if (source.charCodeAt(close + 1) === 40) {
    const destination = readDestination(source, close + 1, source.length);
    if (destination !== null) return destination.after;
  }
  if (labels.size === 0) return -1;
  const text = source.slice(open + 1, close);
  if (source.charCodeAt(close + 1) === 91) {
    const end = source.indexOf("]", close + 2);
    const label = end === -1 ? "" : source.slice(close + 2, end);
    if (end !== -1 && labels.has(normalizeLabel(label.trim() === "" ? text : label))) return end + 1;
  }
  return labels.has(normalizeLabel(text)) ? close + 1 : -1;
}

/** Marks the next character as literal text, so that emphasis ignores it. */
const shield = "\ue000";
const unshield = /\ue000([\s\S])/g;

function reveal(text: string): string {
  return text.includes(shield) ? text.replace(unshield, "$1") : text;
}

interface Run {
  char: string;
  /** The run's index in the pieces. */
  piece: number;
  length: number;
  original: number;
  canOpen: boolean;
  canClose: boolean;
}

const space = /\s/u;
const punctuation = /[\p{P}\p{S}]/u;
const runs = /(?<!\ue000)(?:\*+|_+|~+)/g;

function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low < 0xe000 ? text.slice(at - 2, at) : text.charAt(at - 1);
}

function flanking(text: string, start: number, end: number, char: string): { canOpen: boolean; canClose: boolean } {
  const before = characterBefore(text, start);
  const following =
    text.charCodeAt(end) === 0xe000 ? text.charAt(end + 1) : String.fromCodePoint(text.codePointAt(end) ?? 32);
  const spaceBefore = before === "" || space.test(before);
  const spaceAfter = end >= text.length || space.test(following);
  const markBefore = punctuation.test(before);
  const markAfter = punctuation.test(following);
  const left = !spaceAfter && (!markAfter || spaceBefore || markBefore);
  const right = !spaceBefore && (!markBefore || spaceAfter || markAfter);
  if (char !== "_") return { canOpen: left, canClose: right };
  return { canOpen: left && (!right || markBefore), canClose: right && (!left || markAfter) };
}

/** Removes emphasis and strikethrough markers, by CommonMark's delimiter rules. */
function plainEmphasis(text: string): string {
  const pieces: string[] = [];
  const open: Run[] = [];
  let last = 0;
  for (const found of text.matchAll(runs)) {
    const start = found.index;
    const end = start + found[0].length;
    const char = found[0].charAt(0);
    pieces.push(text.slice(last, start), found[0]);
    last = end;
    if (char === "~" && found[0].length > 2) continue;
    const run: Run = {
      char,
      piece: pieces.length - 1,
      length: found[0].length,
      original: found[0].length,
      ...flanking(text, start, end, char),
    };
    if (run.canClose) closeWith(run, open, pieces);
    if (run.canOpen && run.length > 0) open.push(run);
  }
  pieces.push(text.slice(last));
  return reveal(pieces.join(""));
}

function closeWith(run: Run, open: Run[], pieces: string[]): void {
  for (let i = open.length - 1; i >= 0 && run.length > 0; i--) {
    const opener = open[i] as Run;
    if (opener.char !== run.char) continue;
    const isOdd =
      run.char !== "~" &&
      (opener.canClose || run.canOpen) &&
      (opener.original + run.original) % 3 === 0 &&
      (opener.original % 3 !== 0 || run.original % 3 !== 0);
    if (isOdd || (run.char === "~" && opener.length !== run.length)) continue;
    open.length = i + 1;
    while (opener.length > 0 && run.length > 0) {
      const used = run.char === "~" ? run.length : opener.length >= 2 && run.length >= 2 ? 2 : 1;
      opener.length -= used;
      run.length -= used;
    }
    pieces[opener.piece] = opener.char.repeat(opener.length);
    pieces[run.piece] = run.char.repeat(run.length);
    if (opener.length === 0) open.pop();
  }
}
