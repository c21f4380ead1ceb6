import { isUtf8 } from "node:buffer";
import { AppError } from "../errors.ts";
import type { Git } from "./git.ts";
import type { SearchQuery } from "./tree.ts";

/** A line that git found, and in which of the searched objects. */
export interface Hit {
  source: string;
  line: number;
  column: number;
  text: string;
}

const patternBytesMax = 4_000;
const textBytesMax = 1_000;
/** A page without line breaks is one long line: what git may print before it is told to stop. */
const outputBytesMax = 256 * 1024 * 1024;

/**
 * `git grep` over objects in a mirror, line by line as it finds them; binary files are passed over. `onHit` says
 * whether to go on. Answers whether everything was searched.
 */
export async function grep(
  git: Git,
  input: {
    gitDir: string;
    query: SearchQuery;
    objects: readonly string[];
    pathspecs?: readonly string[];
    timeMsMax: number;
    onHit(hit: Hit): boolean;
  },
  signal: AbortSignal,
): Promise<{ complete: boolean }> {
  const { query, timeMsMax } = input;
  checkPattern(query.pattern);
  const dialect = query.kind === "literal" ? "--fixed-strings" : "--extended-regexp";
  const args = [
    "grep",
    "-z",
    "-n",
    "--column",
    "-I",
    "--no-color",
    "--no-textconv",
    "--no-recurse-submodules",
    dialect,
  ];
  if (query.ignoreCase) args.push("--ignore-case");
  args.push(
    "-e",
    query.kind === "regex" ? toExtended(query.pattern) : query.pattern,
    ...input.objects,
    "--",
    ...(input.pathspecs ?? []),
  );
  const onOutput = createHitParser(input.onHit);
  const result = await git
    .run({ gitDir: input.gitDir, args, timeMsMax, outputBytesMax, onOutput }, signal)
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw explainSlow(error, timeMsMax);
    });
  if (result.code > 1) throw refusedPattern(result.words);
  return { complete: !result.cut };
}

function checkPattern(pattern: string): void {
  if (pattern === "") throw refused("There is nothing to search for.");
  if (/[\n\0]/.test(pattern)) throw refused("A search pattern is one line.");
  if (Buffer.byteLength(pattern) > patternBytesMax) throw refused("The search pattern is too long.");
}

/** What other dialects write for the same, in git's. */
function toExtended(pattern: string): string {
  if (/\(\?(?:[=!]|<[=!])/.test(pattern)) {
    throw refused(
      "The pattern looks ahead or behind, which this search cannot do. Search for less, then read the matches.",
    );
  }
  return pattern.replace(/\\[\s\S]|\(\?:|([*+?}])\?|\[(?:\\[\s\S]|[^\]\\])*\]/g, (piece, repeat?: string) => {
    if (piece === "\\d") return "[0-9]";
    if (piece === "\\D") return "[^0-9]";
    if (piece === "(?:") return "(";
    if (repeat !== undefined) return repeat;
    return piece.startsWith("[") ? piece.replaceAll("\\d", "0-9").replaceAll("\\w", "[:alnum:]_") : piece;
  });
}

const patternFaults: readonly (readonly [RegExp, string])[] = [
  [/unmatched \(|unmatched \)/i, "a parenthesis has no partner"],
  [/unmatched \[|invalid regular expression|bracket/i, "a bracket has no partner"],
  [/preceding/i, "a *, + or ? has nothing before it to repeat"],
  [/content of \\\{|unmatched \\?\{|brace/i, "the numbers in { } do not fit"],
  [/back\s?reference/i, "a backreference names no group"],
  [/range/i, "a range in [ ] ends before it begins"],
];

function refusedPattern(words: string): AppError {
  const why = patternFaults.find(([fault]) => fault.test(words))?.[1];
  if (why === undefined) return refused(`The search failed: ${words}.`);
  return refused(`The pattern is no regular expression: ${why}. Escape it with a backslash, or search without regex.`);
}

function explainSlow(error: unknown, timeMsMax: number): unknown {
  if (!(error instanceof AppError) || error.code !== "repository_unavailable") return error;
  const seconds = Math.round(timeMsMax / 1000);
  return refused(`The search was stopped after ${seconds} s. Use a simpler pattern or a folder to stay below.`, error);
}

function refused(publicMessage: string, cause?: unknown): AppError {
  return new AppError("invalid_request", { publicMessage, cause });
}

/** Cuts the stream into `<source>\0<line>\0<column>\0<text>\n`, keeping only the beginning of long lines. */
function createHitParser(onHit: (hit: Hit) => boolean): (chunk: Buffer) => boolean {
  let record: Buffer = Buffer.alloc(0);
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      // A path may hold line feeds: the record ends at the first one behind its NULs.
      record = append(record, chunk.subarray(start, end));
      start = end + 1;
      const hit = parseHit(record);
      if (!hit) {
        record = append(record, Buffer.from("\n"));
        continue;
      }
      record = Buffer.alloc(0);
      if (hit !== "unreadable" && !onHit(hit)) return false;
    }
    record = append(record, chunk.subarray(start));
    return true;
  };
}

/** Room for the longest path that git takes along, and the text that is kept. */
const recordBytesMax = 5_000 + textBytesMax;

function append(record: Buffer, more: Buffer): Buffer {
  const room = recordBytesMax - record.length;
  if (room <= 0) return record;
  const kept = more.subarray(0, room);
  return record.length === 0 ? kept : Buffer.concat([record, kept]);
}

function parseHit(record: Buffer): Hit | "unreadable" | null {
  const sourceEnd = record.indexOf(0);
  const lineEnd = sourceEnd === -1 ? -1 : record.indexOf(0, sourceEnd + 1);
  const columnEnd = lineEnd === -1 ? -1 : record.indexOf(0, lineEnd + 1);
  if (columnEnd === -1) return record.length >= recordBytesMax ? "unreadable" : null;
  const source = record.subarray(0, sourceEnd);
  if (!isUtf8(source)) return "unreadable";
  const line = Number(record.toString("latin1", sourceEnd + 1, lineEnd));
  const column = Number(record.toString("latin1", lineEnd + 1, columnEnd)) - 1;
  const text = record.subarray(columnEnd + 1);
  return { source: source.toString("utf8"), line, column, text: lineText(text) };
}

function lineText(bytes: Buffer): string {
  if (bytes.length > textBytesMax) {
    const cut = bytes.toString("utf8", 0, textBytesMax);
    // A character that was cut in two shows as a replacement.
    return `${cut.replace(/\ufffd$/, "")}…`;
  }
  const text = bytes.toString("utf8");
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}
