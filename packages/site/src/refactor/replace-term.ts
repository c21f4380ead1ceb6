import { locatePage } from "../find-page.ts";
import type { PageNode } from "../links/site-index.ts";
import { type Prose, type Range, readProse } from "../parse/prose.ts";
import type { Site } from "../site.ts";
import {
  append,
  applySplices,
  decodePiece,
  encodePiece,
  indexLines,
  isAsciiText,
  type Splice,
  toByteString,
} from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring } from "../types.ts";
import { createReanchor } from "./anchors.ts";
import { createPlan, refuse } from "./edit-plan.ts";
import { createTerm, type Term } from "./term.ts";

export interface ReplaceTerm {
  from: string;
  to: string;
  /** Only these pages. Default: all. */
  pages?: readonly string[];
  /** Pages to skip. */
  excludes?(path: string): boolean;
  /** Also replaces plurals. */
  wordForms?: boolean;
  includeCode?: boolean;
  includeLinks?: boolean;
  includeFrontMatterKeys?: boolean;
}

/**
 * Replaces a term in visible text and keeps its case. Updates links to changed headings, and reports what it did not
 * replace.
 */
export async function replaceTerm(site: Site, input: ReplaceTerm): Promise<Refactoring> {
  const from = input.from.trim().replace(/\s+/g, " ");
  const to = input.to.trim().replace(/\s+/g, " ");
  if (from === "") return refuse("name the term to replace");
  if (from.length > 200 || to.length > 200) return refuse("a term has at most 200 characters");
  const chosen = choosePages(site, input.pages);
  if (typeof chosen === "string") return refuse(chosen);
  const plan = createPlan(site);
  const reanchor = createReanchor(site, plan);
  const prose = createTerm({ from, to, wordForms: input.wordForms === true, isLiteral: false });
  const literal = createTerm({ from, to, wordForms: false, isLiteral: true });
  const breathe = createTimeSlice();
  for (const node of chosen) {
    await breathe();
    if (input.excludes?.(node.path)) continue;
    const bytes = await site.tree.read(node.path);
    if (bytes === null || node.brief.unread) continue;
    const text = toByteString(bytes);
    const ranges = readProse(text, site.model.dialect(node.path));
    const done = spliceTerm(text, ranges, input, { prose, literal });
    const { splices } = done;
    for (const { line, where } of findLeft(text, ranges, done, prose)) {
      plan.skip({ path: node.path, line, reason: `"${from}" stays ${where}` });
    }
    if (splices.length === 0) continue;
    for (const splice of splices) plan.splice(node.path, splice);
    plan.count("pages");
    plan.count("replacements", splices.length);
    reanchor.changed(node, text, applySplices(text, splices));
  }
  if (input.pages === undefined) await replaceLabels(site, prose, plan);
  await reanchor.apply();
  return plan.finish();
}

function choosePages(site: Site, words: readonly string[] | undefined): PageNode[] | string {
  if (words === undefined) return [...site.index.nodes.values()];
  const nodes: PageNode[] = [];
  for (const word of words) {
    const located = locatePage(site, word);
    if (located.kind === "refused") return located.reason;
    nodes.push(located.node);
  }
  return [...new Set(nodes)];
}

interface Passages {
  splices: Splice[];
  /** Passages that are not valid UTF-8. */
  unread: Range[];
  /** Occurrences inside something else, or in a form without a counterpart. */
  kept: (Range & { where: string })[];
}

function spliceTerm(
  text: string,
  ranges: Prose,
  input: ReplaceTerm,
  { prose, literal }: { prose: Term; literal: Term },
): Passages {
  const found = spliceRanges(text, ranges.prose, prose);
  const add = (more: Range[]): void => {
    const { splices, unread } = spliceRanges(text, more, literal);
    append(found.splices, splices);
    append(found.unread, unread);
  };
  if (input.includeCode) add(ranges.code);
  if (input.includeLinks) add(ranges.targets);
  if (input.includeFrontMatterKeys) add(ranges.frontMatterKeys);
  return found;
}

function spliceRanges(text: string, ranges: readonly Range[], term: Term): Passages {
  const found: Passages = { splices: [], unread: [], kept: [] };
  for (const { start, end } of ranges) {
    const raw = text.slice(start, end);
    const piece = decodePiece(raw);
    // Bytes that are not valid UTF-8 cannot be decoded and re-encoded: skip the passage.
    if (piece !== raw && encodePiece(piece) !== raw) {
      found.unread.push({ start, end });
      continue;
    }
    for (const match of term.matches(piece)) {
      const at = start + encodePiece(piece.slice(0, match.index)).length;
      const length = encodePiece(piece.slice(match.index, match.index + match.length)).length;
      if (match.stays !== undefined) {
        found.kept.push({ start: at, end: at + length, where: match.stays });
        continue;
      }
      const isFirst = match.capitalized !== undefined && startsSentence(text, at);
      const words = isFirst ? (match.capitalized ?? match.text) : match.text;
      found.splices.push({ start: at, end: at + length, text: encodePiece(words) });
    }
  }
  return found;
}

/** Names of groups and tabs are visible text too. */
async function replaceLabels(site: Site, term: Term, plan: ReturnType<typeof createPlan>): Promise<void> {
  const files = new Map<string, string>();
  for (const label of site.model.labels) {
    if (!files.has(label.file)) {
      const bytes = await site.tree.read(label.file);
      files.set(label.file, bytes === null ? "" : toByteString(bytes));
    }
    for (const splice of spliceRanges(files.get(label.file) ?? "", [label], term).splices) {
      plan.splice(label.file, splice);
      plan.count("navigation");
    }
  }
}

const reach = 200;
const shortened = /(?:^|[\s(])(?:e\.g|i\.e|cf|vs|approx|no|fig)\.$/i;
// Markers that may precede a line's first word: headings, quotes, lists, cells and emphasis.
const openings = /^(?:[\s>#|*_+~-]|\d{1,9}[.)])*$/;

/** Whether a sentence starts at a byte offset of a page: there, a capital is not part of the word. */
function startsSentence(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - reach), at).replace(/[*_~"'([“‘\\]+$/, "");
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (openings.test(line) && line.trim() !== "") return true;
  const words = before.trimEnd();
  if (words === before) return before === "";
  if (/[.!?:]$/.test(words)) return !/:$/.test(words) && !shortened.test(words);
  // A paragraph's first line follows a blank line, or the end of front matter.
  return (
    line.trim() === "" && (words === "" || /\n[ \t\r]*\n/.test(before.slice(words.length)) || words.endsWith("---"))
  );
}

interface Left {
  line: number;
  /** The location, as text after "stays". */
  where: string;
}

type Lookup = (at: number) => boolean;

function createLookup(ranges: readonly Range[]): Lookup {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  return (at) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as Range).start <= at) low = middle + 1;
      else high = middle;
    }
    const last = sorted[low - 1];
    return last !== undefined && at < last.end;
  };
}

/** The remaining occurrences of a term in a page, with their location. One per line and location. */
function findLeft(
  text: string,
  ranges: Prose,
  done: { splices: readonly Splice[]; unread: readonly Range[]; kept: readonly (Range & { where: string })[] },
  term: Term,
): Left[] {
  const offsets = [...offsetsOf(text, term)];
  if (offsets.length === 0) return [];
  const isSpliced = createLookup(done.splices);
  const places: readonly [Lookup, string][] = [
    [createLookup(done.unread), "in text that is not valid UTF-8"],
    [createLookup(ranges.code), "in code"],
    [createLookup(ranges.targets), "in a link's target"],
    [createLookup(ranges.frontMatterKeys), "in a front-matter key"],
    [createLookup(ranges.prose), "in a name"],
    [(at) => at < ranges.bodyStart, "in front matter"],
    [() => true, "in markup"],
  ];
  const kept = new Map(done.kept.map(({ start, where }) => [start, where]));
  const lines = indexLines(text);
  const left = new Map<string, Left>();
  for (const at of offsets) {
    if (isSpliced(at)) continue;
    const line = lines.lineOf(at) + 1;
    const where = kept.get(at) ?? places.find(([holds]) => holds(at))?.[1] ?? "";
    left.set(`${line} ${where}`, { line, where });
  }
  return [...left.values()];
}

/** Byte offsets of a term. Text that is not valid UTF-8 is searched byte by byte. */
function* offsetsOf(text: string, term: Term): Generator<number> {
  const decoded = isAsciiText(text) ? text : Buffer.from(text, "latin1").toString("utf8");
  const isWhole = decoded === text || Buffer.byteLength(decoded) === text.length;
  const searched = isWhole ? decoded : text;
  let from = 0;
  let passed = 0;
  for (const { index } of term.matches(searched)) {
    passed += isWhole && decoded !== text ? Buffer.byteLength(searched.slice(from, index)) : index - from;
    from = index;
    yield passed;
  }
}
