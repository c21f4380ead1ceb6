import type { Tree } from "../tree.ts";

/** Lines of a file that something is founded on: what is needed to find them again in another commit. */
export interface CitedLines {
  path: string;
  /** From 1. */
  line: number;
  lineEnd: number;
  /** Without trailing white space; lines end with `\n`. */
  text: string;
  /** The nearest definition, key or section that they are in; null: none is known. */
  symbol: string | null;
}

export type FoundAgain =
  /** As they were, where they were. */
  | { kind: "same"; cited: CitedLines }
  /** As they were, elsewhere. */
  | { kind: "moved"; cited: CitedLines }
  /** Other lines are in their place. */
  | { kind: "changed"; cited: CitedLines }
  | { kind: "gone" };

export const citedLinesMax = 60;
const citedCharactersMax = 8_000;
const fileLinesMax = 50_000;

/** Null: the file has no such lines, or is no text. */
export function citeLines(path: string, content: string, line: number, lineEnd: number): CitedLines | null {
  const lines = linesOf(content);
  if (line < 1 || lineEnd < line || lineEnd > lines.length || lineEnd - line >= citedLinesMax) return null;
  return citeAt(path, lines, line, lineEnd);
}

function linesOf(content: string): readonly string[] {
  const lines = content.split("\n", fileLinesMax).map((line) => line.trimEnd());
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function citeAt(path: string, lines: readonly string[], line: number, lineEnd: number): CitedLines | null {
  const text = lines.slice(line - 1, lineEnd).join("\n");
  if (text.trim() === "" || text.length > citedCharactersMax) return null;
  return { path, line, lineEnd, text, symbol: symbolAt(lines, line - 1) };
}

/** A text file, or null; what is too large to be read is none. */
export async function readCitable(tree: Tree, path: string): Promise<string | null> {
  const bytes = await tree.read(path).catch(() => null);
  if (bytes === null || bytes.includes(0)) return null;
  return bytes.toString("utf8");
}

/** What the finder of one look remembers, so that a file which moved is searched for once. */
export interface FinderMemory {
  /** Where lines of a path were found. */
  movedTo: Map<string, string>;
  searches: number;
}

const searchesMax = 100;
const matchesMax = 20;

/** Finds cited lines in a tree: in their file, else in another one, else what has taken their place. */
export async function findAgain(
  tree: Tree,
  cited: CitedLines,
  memory: FinderMemory,
  signal: AbortSignal,
): Promise<FoundAgain> {
  const content = await readCitable(tree, cited.path);
  const lines = content === null ? null : linesOf(content);
  const here = lines && placeIn(cited.path, lines, cited);
  if (here) return { kind: here.line === cited.line ? "same" : "moved", cited: here };
  const isSymbolHere = lines !== null && cited.symbol !== null && namesSymbol(lines, cited.symbol);
  // A copy elsewhere is not what was cited while the original is still here, in another form.
  const there = isSymbolHere ? null : await placeElsewhere(tree, cited, memory, signal);
  if (there) return { kind: "moved", cited: there };
  const alike = lines && mostAlike(cited.path, lines, cited, isSymbolHere);
  return alike ? { kind: "changed", cited: alike } : { kind: "gone" };
}

/** Where the same text is in a file: inside the same symbol and nearest; inside another one only if nothing else can be meant. */
function placeIn(path: string, lines: readonly string[], cited: CitedLines): CitedLines | null {
  const wanted = cited.text.split("\n");
  const places: CitedLines[] = [];
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (lines[at] !== wanted[0] || !wanted.every((line, index) => lines[at + index] === line)) continue;
    places.push({ ...cited, path, line: at + 1, lineEnd: at + wanted.length, symbol: symbolAt(lines, at) });
  }
  // Lines in no symbol are known by themselves alone.
  const isAny = cited.symbol === null && (isDistinct(cited.text) || places.length === 1);
  const inSymbol = places.filter(({ symbol, line }) =>
    cited.symbol === null ? isAny || line === cited.line : symbol === cited.symbol,
  );
  const nearest = inSymbol.toSorted((a, b) => Math.abs(a.line - cited.line) - Math.abs(b.line - cited.line))[0];
  if (nearest) return nearest;
  return places.length === 1 && isDistinct(cited.text) ? (places[0] ?? null) : null;
}

async function placeElsewhere(
  tree: Tree,
  cited: CitedLines,
  memory: FinderMemory,
  signal: AbortSignal,
): Promise<CitedLines | null> {
  if (!isDistinct(cited.text)) return null;
  const known = memory.movedTo.get(cited.path);
  const paths = known === undefined ? await pathsWith(tree, cited, memory, signal) : [known];
  const places: CitedLines[] = [];
  for (const path of paths) {
    const content = await readCitable(tree, path);
    const place = content === null ? null : placeIn(path, linesOf(content), cited);
    if (place) places.push(place);
  }
  const inSymbol = places.filter(({ symbol }) => symbol === cited.symbol);
  const found = inSymbol.length === 1 ? inSymbol[0] : places.length === 1 ? places[0] : undefined;
  if (found) memory.movedTo.set(cited.path, found.path);
  return found ?? null;
}

/** Files that hold the longest of the lines. */
async function pathsWith(
  tree: Tree,
  cited: CitedLines,
  memory: FinderMemory,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (memory.searches >= searchesMax) return [];
  memory.searches += 1;
  const longest = cited.text.split("\n").reduce((a, b) => (b.trim().length > a.trim().length ? b : a));
  const { matches } = await tree.search({ pattern: longest.trim(), kind: "literal", matchesMax }, signal);
  return [...new Set(matches.map(({ path }) => path))].filter((path) => path !== cited.path);
}

/** Short lines such as `return null;` are in many places. */
function isDistinct(text: string): boolean {
  return text.replaceAll(/\s/g, "").length >= 24;
}

const likenessMin = { inSymbol: 0.34, anywhere: 0.5 } as const;

/** The lines that have most words in common with those cited; null: none has enough. */
function mostAlike(
  path: string,
  lines: readonly string[],
  cited: CitedLines,
  isSymbolHere: boolean,
): CitedLines | null {
  const count = cited.lineEnd - cited.line + 1;
  const wanted = wordsOf(cited.text);
  const least = isSymbolHere ? likenessMin.inSymbol : likenessMin.anywhere;
  let best: { at: number; likeness: number } | null = null;
  for (let at = 0; at + count <= lines.length; at += 1) {
    const likeness = likenessOf(wanted, wordsOf(lines.slice(at, at + count).join("\n")));
    if (likeness < least || (best && !isBetter({ at, likeness }, best, cited.line - 1))) continue;
    if (isSymbolHere && symbolAt(lines, at) !== cited.symbol) continue;
    best = { at, likeness };
  }
  return best && citeAt(path, lines, best.at + 1, best.at + count);
}

function isBetter(one: { at: number; likeness: number }, other: typeof one, wanted: number): boolean {
  if (one.likeness !== other.likeness) return one.likeness > other.likeness;
  return Math.abs(one.at - wanted) < Math.abs(other.at - wanted);
}

function wordsOf(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*|\p{N}+/gu))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Dice's coefficient: 1 for the same words, 0 for none in common. */
function likenessOf(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  const sizeOf = (words: ReadonlyMap<string, number>) => [...words.values()].reduce((sum, count) => sum + count, 0);
  const total = sizeOf(one) + sizeOf(other);
  if (total === 0) return 0;
  let shared = 0;
  for (const [word, count] of one) shared += Math.min(count, other.get(word) ?? 0);
  return (2 * shared) / total;
}

const modifiers =
  "(?:(?:export|default|pub(?:\\([a-z]+\\))?|public|private|protected|internal|static|async|abstract|final|declare|unsafe|override|readonly)\\s+)*";
const definitions: readonly RegExp[] = [
  new RegExp(
    `^\\s*${modifiers}(?:function\\*?|class|interface|type|enum|struct|trait|impl|module|namespace|package|def|func|fn|sub|const|let|var|val|object|record|message|service|rpc)\\s+(?:\\([^)]*\\)\\s*)?([A-Za-z_$][\\w$]*)`,
  ),
  // Methods, and functions of the C family.
  new RegExp(
    `^\\s*${modifiers}(?:[\\w<>[\\],*&:]+\\s+)*(?!if|for|while|switch|catch|return)([A-Za-z_$][\\w$]*)\\s*\\([^;]*\\)[^;=]*\\{$`,
  ),
  // Keys of YAML, JSON and object literals.
  /^\s*["']?([A-Za-z_$][\w.$/-]*)["']?\s*:(?=\s|$)/,
];
const section = /^\[+\s*([\w."' -]+?)\s*\]+$/;

/** What a line defines; null: nothing that can be told from the line alone. */
function definedBy(line: string): string | null {
  if (line.length > 300) return null;
  for (const form of definitions) {
    const name = form.exec(line)?.[1];
    if (name !== undefined) return name;
  }
  return section.exec(line)?.[1] ?? null;
}

const linesAboveMax = 400;

/** The name of the nearest definition at or around a line, by indentation: languages differ, their layout hardly. */
function symbolAt(lines: readonly string[], at: number): string | null {
  const own = definedBy(lines[at] ?? "");
  if (own !== null) return own;
  let indent = indentOf(lines[at] ?? "");
  for (let above = at - 1; above >= Math.max(0, at - linesAboveMax); above -= 1) {
    const line = lines[above] ?? "";
    if (line === "") continue;
    const isSection = section.test(line);
    if (indentOf(line) >= indent && !isSection) continue;
    const name = definedBy(line);
    if (name !== null) return name;
    indent = indentOf(line);
  }
  return null;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function namesSymbol(lines: readonly string[], symbol: string): boolean {
  return lines.some((line) => line.includes(symbol) && definedBy(line) === symbol);
}
