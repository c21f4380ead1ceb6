import { isUtf8 } from "node:buffer";
import { AppError } from "../errors.ts";
import type { Git } from "./git.ts";
import type { SearchQuery } from "./tree.ts";

/** A line that git found, and in which of the searched objects. */
export interface Hit {
  source: string;
  line: number;
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
  const args = ["grep", "-z", "-n", "-I", "--no-color", "--no-textconv", "--no-recurse-submodules", dialect];
  if (query.ignoreCase) args.push("--ignore-case");
  args.push("-e", query.pattern, ...input.objects, "--", ...(input.pathspecs ?? []));
  const onOutput = createHitParser(input.onHit);
  const result = await git
    .run({ gitDir: input.gitDir, args, timeMsMax, outputBytesMax, onOutput }, signal)
    .catch((error: unknown) => {
      signal.throwIfAborted();
      throw explainSlow(error, timeMsMax);
    });
  if (result.code > 1) throw refused(`The search failed: ${result.words}.`);
  return { complete: !result.cut };
}

function checkPattern(pattern: string): void {
  if (pattern === "") throw refused("There is nothing to search for.");
  if (/[\n\0]/.test(pattern)) throw refused("A search pattern is one line.");
  if (Buffer.byteLength(pattern) > patternBytesMax) throw refused("The search pattern is too long.");
}

function explainSlow(error: unknown, timeMsMax: number): unknown {
  if (!(error instanceof AppError) || error.code !== "repository_unavailable") return error;
  const seconds = Math.round(timeMsMax / 1000);
  return refused(`The search was stopped after ${seconds} s. Use a simpler pattern or a folder to stay below.`, error);
}

function refused(publicMessage: string, cause?: unknown): AppError {
  return new AppError("invalid_request", { publicMessage, cause });
}

/** Cuts the stream into `<source>\0<line>\0<text>\n`, keeping only the beginning of long lines. */
function createHitParser(onHit: (hit: Hit) => boolean): (chunk: Buffer) => boolean {
  let record: Buffer = Buffer.alloc(0);
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      // A path may hold line feeds: the record ends at the first one behind both NULs.
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
  if (lineEnd === -1) return record.length >= recordBytesMax ? "unreadable" : null;
  const source = record.subarray(0, sourceEnd);
  if (!isUtf8(source)) return "unreadable";
  const line = Number(record.toString("latin1", sourceEnd + 1, lineEnd));
  const text = record.subarray(lineEnd + 1);
  return { source: source.toString("utf8"), line, text: lineText(text) };
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
