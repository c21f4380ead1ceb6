import { findWithin } from "../text/bytes.ts";
import { normalizeLabel } from "./blocks.ts";
import { readDestination } from "./destination.ts";
import type { Dialect } from "./dialect.ts";
import { failuresMax, scanTag, type Tag } from "./scan-tag.ts";
import { skipBraces } from "./skip-code.ts";

/** The callbacks of the inline scanner. Offsets are those of the scanned text. */
export interface InlineSink {
  link(isImage: boolean, textStart: number, textEnd: number, start: number, end: number): void;
  /** What looks like a link and is none. `label`: the undefined one, or null if its address is not closed. */
  textLink?(start: number, label: string | null): void;
  tag(tag: Tag): void;
  template(start: number, end: number): void;
  /** A run of prose: no code, target or markup. Absent if prose is not needed. */
  prose?(start: number, end: number): void;
  code?(start: number, end: number): void;
}

interface Bracket {
  at: number;
  isImage: boolean;
  isActive: boolean;
}

const autolink = /<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>|<[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9.-]+>/y;

/**
 * Scans inline Markdown between two offsets. `labels`: the page's definitions. `marks`: those of the text, if known.
 */
export function scanInline(
  text: string,
  from: number,
  end: number,
  dialect: Dialect,
  labels: ReadonlySet<string>,
  sink: InlineSink,
  marks: Marks | null = null,
): void {
  // Many paragraphs have no marks: they are skipped before any setup.
  const mark = marks === null ? 0 : firstMark(marks, from);
  const first = marks === null ? endOfPlain(text, from, end) : markAt(marks, mark, end);
  if (first < end || sink.prose !== undefined) {
    scanMarked({ text, from, end, dialect, labels, sink, marks }, first, mark);
  }
}

function endOfPlain(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && isPlain[text.charCodeAt(at)] === 1) at++;
  return at;
}

function markAt({ offsets, count }: Marks, mark: number, end: number): number {
  return mark < count ? Math.min(offsets[mark] as number, end) : end;
}

interface Inline {
  text: string;
  from: number;
  end: number;
  dialect: Dialect;
  labels: ReadonlySet<string>;
  sink: InlineSink;
  marks: Marks | null;
}

/** Scans from the first marked character. */
function scanMarked(inline: Inline, first: number, firstMarkIndex: number): void {
  const { text, from, end, dialect, labels, sink, marks } = inline;
  let i = first;
  let mark = firstMarkIndex;
  const isMdx = dialect.syntax === "mdx";
  const hasAttributes = dialect.headingIds.includes("attributes");
  const brackets: Bracket[] = [];
  let runs: ReadonlyMap<number, number[]> | null = null;
  let failures = 0;
  // Delimiters that have no end after this point, so that they are not searched again.
  const endless = new Set<string>();
  let proseStart = from;

  function skipPlain(at: number): number {
    if (marks === null) return endOfPlain(text, at, end);
    const { offsets, count } = marks;
    while (mark < count && (offsets[mark] as number) < at) mark++;
    return markAt(marks, mark, end);
  }

  function cut(start: number, after: number): void {
    if (sink.prose !== undefined && start > proseStart) sink.prose(proseStart, start);
    proseStart = after;
  }

  function findEnd(mark: string, start: number): number {
    const found = endless.has(mark) ? -1 : findWithin(text, mark, start, end);
    if (found === -1) endless.add(mark);
    return found;
  }

  function closeBracket(at: number): number {
    const bracket = brackets.pop();
    if (bracket === undefined || !bracket.isActive) return at + 1;
    const next = text.charCodeAt(at + 1);
    const destination = next === 40 && at + 1 < end ? readDestination(text, at + 1, end) : null;
    let after = at + 1;
    if (destination !== null) {
      sink.link(bracket.isImage, bracket.at, at, destination.start, destination.end);
      after = destination.after;
      cut(at, after);
    } else {
      const label = referenceLabel(bracket, at);
      if (label === null) {
        if (next === 40 || next === 91) noteTextLink(bracket, at, next === 40);
        return at + 1;
      }
      after = label;
      cut(at, after);
    }
    if (!bracket.isImage) deactivate();
    return after;
  }

  function noteTextLink(bracket: Bracket, at: number, isInline: boolean): void {
    const before = text.charCodeAt(bracket.at - (bracket.isImage ? 3 : 2));
    if (at === bracket.at || (bracket.at - 1 > from && isWord(before))) return;
    const rest = text.slice(at + 2, Math.min(end, at + 200));
    if (isInline) {
      if (addressStart.test(rest)) sink.textLink?.(bracket.at - 1, null);
      return;
    }
    const label = /^(?!\^)[^\]\n]*[A-Za-z][^\]\n]*(?=\])/.exec(rest)?.[0];
    if (label !== undefined) sink.textLink?.(bracket.at - 1, label);
  }

  /**
   * Links cannot contain links: brackets that are still open become text. All below the first inactive one are inactive
   * too.
   */
  function deactivate(): void {
    for (let i = brackets.length - 1; i >= 0; i--) {
      const open = brackets[i] as Bracket;
      if (open.isImage) continue;
      if (!open.isActive) return;
      open.isActive = false;
    }
  }

  /** The end of a reference (`[text][label]`, `[label][]` or `[label]`). Null if its label is not defined. */
  function referenceLabel(bracket: Bracket, at: number): number | null {
    if (labels.size === 0) return null;
    if (text.charCodeAt(at + 1) === 91) {
      const close = findWithin(text, "]", at + 2, Math.min(end, at + 1000));
      if (close !== -1) {
        const label = text.slice(at + 2, close);
        if (label.trim() !== "") return labels.has(normalizeLabel(label)) ? close + 1 : null;
        return labels.has(normalizeLabel(text.slice(bracket.at, at))) ? close + 1 : null;
      }
    }
    if (at - bracket.at > 1000) return null;
    return labels.has(normalizeLabel(text.slice(bracket.at, at))) ? at + 1 : null;
  }

  function skipCodeSpan(at: number): number {
    const open = endOfRun(text, at, end);
    const length = open - at;
    let close = -1;
    let next = text.indexOf("`", open);
    // Nearly every run is closed by one of the next few. For the others, all runs are listed once.
    for (let tries = 0; tries < nearRuns && next !== -1 && next < end && close === -1; tries++) {
      const after = endOfRun(text, next, end);
      if (after - next === length) close = next;
      else next = text.indexOf("`", after);
    }
    if (close === -1 && next !== -1 && next < end) {
      runs ??= runsByLength(text, next, end);
      const places = runs.get(length) ?? [];
      while ((places.at(-1) ?? end) < next) places.pop();
      close = places.at(-1) ?? -1;
    }
    if (close === -1) return open;
    sink.code?.(open, close);
    cut(at, close + length);
    return close + length;
  }

  function skipAngle(at: number): number {
    if (text.charCodeAt(at + 1) === 33 && text.startsWith("<!--", at)) {
      const close = findEnd("-->", at + 4);
      if (close === -1) return at + 1;
      sink.template(at, close + 3);
      cut(at, close + 3);
      return close + 3;
    }
    if (!isMdx) {
      autolink.lastIndex = at;
      const found = autolink.exec(text);
      if (found !== null && autolink.lastIndex <= end) {
        cut(at, autolink.lastIndex);
        return autolink.lastIndex;
      }
    }
    if (failures > failuresMax) return at + 1;
    const tag = scanTag(text, at, end, isMdx);
    if (tag === null) {
      failures++;
      return at + 1;
    }
    cut(at, tag.end);
    sink.tag(tag);
    return tag.end;
  }

  function skipBrace(at: number): number {
    const second = text.charCodeAt(at + 1);
    if (dialect.templates && (second === 37 || second === 123)) {
      const close = findEnd(second === 37 ? "%}" : "}}", at + 2);
      if (close === -1) return at + 1;
      sink.template(at, close + 2);
      cut(at, close + 2);
      return close + 2;
    }
    if (hasAttributes && !isMdx) return skipAttributes(at);
    if (!isMdx || failures > failuresMax) return at + 1;
    const after = skipBraces(text, at, end);
    if (after === -1) {
      failures++;
      return at + 1;
    }
    cut(at, after);
    return after;
  }

  /** `{: #id .class }` after the element that it belongs to. */
  function skipAttributes(at: number): number {
    const first = /^\{:?[ \t]*[#.]|^\{:?[ \t]*\w+=/.test(text.slice(at, at + 40));
    const close = first ? findEnd("}", at) : -1;
    if (close === -1) return at + 1;
    sink.template(at, close + 1);
    cut(at, close + 1);
    return close + 1;
  }

  while (i < end) {
    switch (text.charCodeAt(i)) {
      case 92:
        i += 2;
        break;
      case 96:
        i = skipCodeSpan(i);
        break;
      case 91: {
        const isImage = i > from && text.charCodeAt(i - 1) === 33 && text.charCodeAt(i - 2) !== 92;
        brackets.push({ at: i + 1, isImage, isActive: true });
        i++;
        break;
      }
      case 93:
        i = brackets.length === 0 ? i + 1 : closeBracket(i);
        break;
      case 60:
        i = skipAngle(i);
        break;
      case 123:
        i = skipBrace(i);
        break;
      default:
        i = skipPlain(i + 1);
    }
  }
  cut(end, end);
}

const addressStart = /^(?:https?:|mailto:|#\w|\.{0,2}\/\w|[\w-]+(?:\/[\w.-]|\.mdx?\b))/;

/** What stands before a bracket that is an index in code. */
function isWord(code: number): boolean {
  return /[\w\])]/.test(String.fromCharCode(code));
}

const nearRuns = 8;

function endOfRun(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) === 96) at++;
  return at;
}

/** The starts of all runs of backticks by length, the last first. */
function runsByLength(text: string, from: number, end: number): ReadonlyMap<number, number[]> {
  const runs = new Map<number, number[]>();
  for (let at = text.indexOf("`", from); at !== -1 && at < end; ) {
    const after = endOfRun(text, at, end);
    const places = runs.get(after - at);
    if (places === undefined) runs.set(after - at, [at]);
    else places.push(at);
    at = text.indexOf("`", after);
  }
  for (const places of runs.values()) places.reverse();
  return runs;
}

/** The offsets of a page's characters with inline meaning, in order, up to `count`. */
interface Marks {
  offsets: Uint32Array;
  count: number;
}

/** One entry per byte value: nearly all characters of a page are plain. */
const isPlain = new Uint8Array(256).fill(1);
for (const char of "\\`[]<{") isPlain[char.charCodeAt(0)] = 0;

// Pages are scanned one at a time, so they share the buffer.
let offsets = new Uint32Array(16 * 1024);

/** Finds the marks of a page in one tight loop over its bytes. Valid until the next page. */
export function findMarks(bytes: Uint8Array): Marks {
  if (offsets.length < bytes.length) offsets = new Uint32Array(bytes.length * 2);
  const into = offsets;
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (isPlain[bytes[i] as number] === 0) into[count++] = i;
  return { offsets: into, count };
}

/** The index of the first mark at or after an offset. */
function firstMark({ offsets, count }: Marks, offset: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
