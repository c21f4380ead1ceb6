import { isUtf8 } from "node:buffer";
import { isFault } from "@emend/base/fault.ts";
import { TreeFault } from "../faults.ts";
import type { Git } from "../git/git.ts";
import { data, fastImport } from "../mirror/build-commit.ts";
import { type MirrorContext, withStore } from "../mirror/mirror-context.ts";
import type { CommitTree, ContentMatch, OverlayEntry, SearchMatch, SearchQuery, TreeIndex } from "../tree.ts";
import { blobId, type ObjectFormat } from "../tree.ts";

/** A line that git found, and the searched object that it is in. */
interface Hit {
  source: string;
  line: number;
  column: number;
  text: string;
}

const patternBytesMax = 4_000;
const textBytesMax = 1_000;
/** A page without line breaks is one long line. Limits git's output. */
const outputBytesMax = 256 * 1024 * 1024;

/**
 * Runs `git grep` over objects of a mirror and streams the matches; binary files are skipped. `onHit` returns whether
 * to continue. Returns whether everything was searched.
 */
async function grep(
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
  if (pattern === "") throw refused("The search pattern is empty.");
  if (/[\n\0]/.test(pattern)) throw refused("A search pattern must be one line.");
  if (Buffer.byteLength(pattern) > patternBytesMax) throw refused("The search pattern is too long.");
}

/** Translates other regex dialects to git's. */
function toExtended(pattern: string): string {
  if (/\(\?(?:[=!]|<[=!])/.test(pattern)) {
    throw refused("Lookahead and lookbehind are not supported. Use a simpler pattern, then read the matches.");
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
  [/unmatched \(|unmatched \)/i, "unmatched parenthesis"],
  [/unmatched \[|invalid regular expression|bracket/i, "unmatched bracket"],
  [/preceding/i, "*, + or ? has nothing to repeat"],
  [/content of \\\{|unmatched \\?\{|brace/i, "invalid numbers in { }"],
  [/back\s?reference/i, "invalid backreference"],
  [/range/i, "invalid range in [ ]"],
];

function refusedPattern(words: string): TreeFault {
  const why = patternFaults.find(([fault]) => fault.test(words))?.[1];
  if (why === undefined) return refused(`The search failed: ${words}.`);
  return refused(
    `The pattern is not a valid regular expression: ${why}. Escape it with a backslash, or search without regex.`,
  );
}

function explainSlow(error: unknown, timeMsMax: number): unknown {
  if (!isFault(error, "repository_unavailable")) return error;
  const seconds = Math.round(timeMsMax / 1000);
  return refused(`The search was stopped after ${seconds} s. Use a simpler pattern, or search in a folder.`, error);
}

function refused(publicMessage: string, cause?: unknown): TreeFault {
  return new TreeFault("invalid_request", { publicMessage, cause });
}

/** Splits the stream into `<source>\0<line>\0<column>\0<text>\n`, keeping only the start of long lines. */
function createHitParser(onHit: (hit: Hit) => boolean): (chunk: Buffer) => boolean {
  let record: Buffer = Buffer.alloc(0);
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      // A path may contain line feeds: the record ends at the first one after its NULs.
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

/** Room for git's longest path and the text that is kept. */
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
    // A character that was cut in half shows as a replacement character.
    return `${cut.replace(/\ufffd$/, "")}…`;
  }
  const text = bytes.toString("utf8");
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

const excludedMax = 1_000;

/** Searches a commit in the mirror. */
export async function searchCommit(
  context: MirrorContext,
  input: { commit: string; index: TreeIndex; query: SearchQuery; except?: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }> {
  const { commit, query, except } = input;
  const under = folderToSearch(query.under);
  if (under === null) return { matches: [], truncated: false };
  const matches: SearchMatch[] = [];
  const { complete } = await grep(
    context.git,
    {
      gitDir: context.place.gitDir,
      query,
      objects: [commit],
      pathspecs: [...(under ? [`:(literal)${under}`] : []), ...tooLarge(input.index, context.limits.fileBytesMax)],
      timeMsMax: context.limits.searchMsMax,
      onHit({ source, ...hit }) {
        const path = source.slice(commit.length + 1);
        if (!except?.has(path) && query.accepts?.(path) !== false) matches.push({ path, ...hit });
        return matches.length <= query.matchesMax;
      },
    },
    signal,
  );
  return { matches: matches.slice(0, query.matchesMax), truncated: !complete };
}

/** Empty: everywhere. Null: no file can match, and git would report an error. */
function folderToSearch(under: string | undefined): string | null {
  const folder = (under ?? "").replace(/\/+$/, "");
  if (folder === "") return under?.startsWith("/") ? null : "";
  const plain = folder.isWellFormed() && !folder.includes("\0");
  return plain && folder.split("/").every((part) => part !== "" && part !== "." && part !== "..") ? folder : null;
}

/** Git unpacks each file in memory: 200 MB of zeros take 200 kB in a pack. */
function tooLarge(index: TreeIndex, fileBytesMax: number): string[] {
  const large = index.list.filter((entry) => (entry.size ?? 0) > fileBytesMax);
  large.sort((left, right) => (right.size ?? 0) - (left.size ?? 0));
  return large.slice(0, excludedMax).map((entry) => `:(exclude,literal)${entry.path}`);
}

/** Below the limit of a command line. */
const objectsMax = 10_000;

/**
 * Searches bytes that are in no commit with the same engine: they become unreferenced blobs of the mirror, and git gets
 * their ids.
 */
export async function searchContents(
  context: MirrorContext,
  input: { contents: readonly Buffer[]; query: SearchQuery; format: ObjectFormat },
  signal: AbortSignal,
): Promise<{ matches: readonly ContentMatch[]; truncated: boolean }> {
  const { contents, query, format } = input;
  const places = Map.groupBy(contents.keys(), (index) => blobId(contents[index] as Buffer, format));
  const ids = [...places.keys()];
  const matches: ContentMatch[] = [];
  let complete = true;
  // The lock is held while searching, because a garbage collection could remove blobs that already existed.
  await withStore(context, "shared", signal, async (lockId) => {
    await fastImport(context, blobStream(contents), lockId, signal);
    for (let start = 0; start < ids.length && complete; start += objectsMax) {
      const objects = ids.slice(start, start + objectsMax);
      const { gitDir } = context.place;
      const { searchMsMax: timeMsMax } = context.limits;
      ({ complete } = await grep(context.git, { gitDir, query, objects, timeMsMax, onHit }, signal));
    }
  });
  matches.sort((left, right) => left.index - right.index || left.line - right.line);
  return { matches: matches.slice(0, query.matchesMax), truncated: !complete || matches.length > query.matchesMax };

  function onHit({ source, ...hit }: Hit): boolean {
    for (const index of places.get(source) ?? []) matches.push({ index, ...hit });
    return matches.length <= query.matchesMax;
  }
}

function* blobStream(contents: readonly Buffer[]): Iterable<Buffer | string> {
  for (const content of contents) {
    yield "blob\n";
    yield* data(content);
  }
}

/** Searches a tree with edits: the tree without the edited paths, and the edits, both with git's engine. */
export async function searchOverlay(
  tree: CommitTree,
  edits: readonly OverlayEntry[],
  query: SearchQuery,
  signal?: AbortSignal,
): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }> {
  if (edits.length === 0) return tree.search(query, signal);
  const under = folderToSearch(query.under);
  const files = edits.flatMap(({ path, content }) =>
    content && isBelow(path, under) && query.accepts?.(path) !== false ? [{ path, content }] : [],
  );
  const contents = files.map((file) => file.content);
  const [below, edited] = await Promise.all([
    tree.search(query, signal, { except: new Set(edits.map((edit) => edit.path)) }),
    contents.length > 0 ? tree.searchContents(contents, query, signal) : { matches: [], truncated: false },
  ]);
  // Both lists are sorted by path, so merging them keeps the order.
  const matches = [
    ...below.matches,
    ...edited.matches.map(({ index, ...hit }) => ({ path: files[index]?.path ?? "", ...hit })),
  ].sort((left, right) => comparePaths(left.path, right.path) || left.line - right.line);
  const truncated = below.truncated || edited.truncated || matches.length > query.matchesMax;
  return { matches: matches.slice(0, query.matchesMax), truncated };
}

function isBelow(path: string, under: string | null): boolean {
  if (under === null) return false;
  return under === "" || path === under || path.startsWith(`${under}/`);
}

/** Git's order of paths: by bytes, that is by code points, while JavaScript compares code units. */
export function comparePaths(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const one = left.charCodeAt(index);
    const other = right.charCodeAt(index);
    if (one !== other) return rank(one) - rank(other);
  }
  return left.length - right.length;
}

/** Surrogates sort after all other characters. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
