import { stripVTControlCharacters } from "node:util";

/** One error or warning of a builder, with its place if the builder or its words tell it. */
export interface Diagnostic {
  severity: "error" | "warning";
  text: string;
  path: string | null;
  line: number | null;
  column: number | null;
  /** Equal for the same complaint before and after a change: without numbers, which move. */
  key: string;
}

/** The files that a builder may mean. */
export interface KnownFiles {
  all: readonly string[];
  /** Preferred if several have the same name. */
  changed: ReadonlySet<string>;
}

const warning = /\bwarn(?:ing)?\b\s*[\]:\s-]|^\s*(?:⚠|\(!\)|\[!\])|\bdeprecat/i;
const error =
  /\b(?:ERROR|FATAL|CRITICAL|SEVERE|FAILED)\b|\b(?:error|fatal|failed)\b\s*[:\]!]|\b[A-Z]\w*(?:Error|Exception)\b|\bException\b|^\s*(?:✖|✘|×)|\b(?:[Dd]ead|[Bb]roken) link|\b(?:Error [a-z]+ing|Failed to [a-z]+)\b/;
/** A few words on a line of their own, above an empty one: what they announce is below. */
const heading = /^\W*[\w-]+(?: [\w-]+){0,3}[.:!]?$/;
export const stackFrame = /^\s+at\s|^\s+File "|^\s*\^+\s*$|^\s*from \S+:\d+:in /;
const continuedMax = 14;
const textMax = 300;

/** Reads what any builder prints: lines with a label are diagnostics, and the lines below belong to them. */
export function readOutput(output: string, workFolder: string, files: KnownFiles): readonly Diagnostic[] {
  const plain = stripVTControlCharacters(output).replaceAll(`${workFolder}/`, "");
  const lines = plain.split(/\r\n|\n|\r/).map((line) => line.trimEnd());
  const find = createFinder(files);
  const found: Diagnostic[] = [];
  for (const [at, line] of lines.entries()) {
    const severity = severityOf(line);
    if (severity === null) continue;
    const isHeading = heading.test(line) && lines[at + 1] === "";
    const from = isHeading ? at + 2 : at + 1;
    const below = lines.slice(from, from + continuedMax);
    const end = below.findIndex((next, place) => severityOf(next) !== null || isOver(next, below[place + 1]));
    const group = [line, ...(end === -1 ? below : below.slice(0, end))];
    const place = placeIn(group, find);
    const text = isHeading
      ? group
          .slice(0, 3)
          .map((one) => one.trim())
          .join(" ")
          .slice(0, textMax)
      : wordsOf(group);
    found.push({ severity, text, ...place, key: `${place.path ?? ""} ${timeless(text)}` });
  }
  return found;
}

/** Indented lines behind an empty one still belong to what is above. */
function isOver(line: string, next = ""): boolean {
  return line === "" && !/^\s/.test(next);
}

/** A line that ends like this is a heading: the line below says more. */
function wordsOf([first = "", second = ""]: readonly string[]): string {
  const own = first.trim();
  const words = /[:!]$/.test(own) && second.trim() !== "" ? `${own} ${second.trim()}` : own;
  return words.replace(/\d{4}[/-]\d\d[/-]\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?\s*/, "").slice(0, textMax);
}

/** The label that comes first counts: a warning may quote an error. */
function severityOf(line: string): "error" | "warning" | null {
  if (stackFrame.test(line)) return null;
  const [asWarning, asError] = [warning.exec(line), error.exec(line)];
  if (asError === null) return asWarning === null ? null : "warning";
  return asWarning !== null && asWarning.index <= asError.index ? "warning" : "error";
}

function timeless(text: string): string {
  return text.replaceAll(/[0-9a-f]*\d[0-9a-f]*/g, "#");
}

type Finder = (name: string) => string | null;

function createFinder({ all, changed }: KnownFiles): Finder {
  const byName = Map.groupBy(all, (path) => path.slice(path.lastIndexOf("/") + 1));
  return (name) => {
    const wanted = name.replace(/^(?:\.{1,2}\/)+/, "");
    const same = (byName.get(wanted.slice(wanted.lastIndexOf("/") + 1)) ?? []).filter(
      (path) => path === wanted || path.endsWith(`/${wanted}`) || wanted.endsWith(`/${path}`),
    );
    const exact = same.find((path) => path === wanted);
    const own = same.filter((path) => changed.has(path));
    return exact ?? (own.length === 1 ? own[0] : same.length === 1 ? same[0] : null) ?? routeOf(name, changed);
  };
}

/** A builder may name a page by its route. Only changed pages are tried. */
function routeOf(name: string, changed: ReadonlySet<string>): string | null {
  if (!name.startsWith("/") || name.length < 2) return null;
  const route = name.replace(/\/$/, "");
  const own = [...changed].filter((path) => `/${path.replace(/\.\w+$/, "").replace(/\/index$/, "")}`.endsWith(route));
  return own.length === 1 ? (own[0] ?? null) : null;
}

const pathLike = /[\w@.+~()[\]-]*(?:\/[\w@.+~()[\]-]+)*\/?(?:\.[A-Za-z]\w{0,9})?/g;

function placeIn(group: readonly string[], find: Finder): Pick<Diagnostic, "path" | "line" | "column"> {
  for (const line of group) {
    for (const match of line.matchAll(pathLike)) {
      const [token] = match;
      const name = token.replace(/[().]+$/, "").replace(/^[(]+/, "");
      if (!/[./]/.test(name)) continue;
      const path = find(name);
      if (path === null) continue;
      const rest = line.slice(match.index + token.length);
      return { path, ...(numbersAfter(rest) ?? numbersAnywhere(group.join("\n")) ?? { line: null, column: null }) };
    }
  }
  return { path: null, line: null, column: null };
}

function numbersAfter(text: string): { line: number; column: number | null } | null {
  const [, line, column] = /^["'`]?(?::|\(|, line |: line )(\d+)(?:[:,](\d+))?/.exec(text) ?? [];
  return line === undefined ? null : { line: Number(line), column: column === undefined ? null : Number(column) };
}

function numbersAnywhere(text: string): { line: number; column: number | null } | null {
  const found =
    /\bline[ :]+(?<line>\d+)(?:,? col(?:umn)?[ :]+(?<column>\d+))?|\((?<row>\d+):(?<place>\d+)(?:-\d+:\d+)?\)/i;
  const { line, column, row, place } = found.exec(text)?.groups ?? {};
  const [at, beside] = [line ?? row, column ?? place];
  return at === undefined ? null : { line: Number(at), column: beside === undefined ? null : Number(beside) };
}

/** The diagnostics that a change added, however far the old ones moved. */
export function newDiagnostics(before: readonly Diagnostic[], after: readonly Diagnostic[]): readonly Diagnostic[] {
  const left = new Map<string, number>();
  for (const { key } of before) left.set(key, (left.get(key) ?? 0) + 1);
  const added: Diagnostic[] = [];
  const seen = new Set<string>();
  for (const one of after) {
    const known = left.get(one.key) ?? 0;
    if (known > 0) left.set(one.key, known - 1);
    // Builders repeat themselves in summaries.
    else if (!seen.has(`${one.key} ${one.line}`)) added.push(one);
    seen.add(`${one.key} ${one.line}`);
  }
  return added;
}
