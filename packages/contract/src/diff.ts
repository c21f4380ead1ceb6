export type DiffLine =
  | { kind: "hunk" | "note"; text: string }
  | { kind: "context"; before: number; after: number; text: string }
  | { kind: "deleted"; before: number; text: string }
  | { kind: "added"; after: number; text: string };

/** A file of a unified diff: its new path (the old one if it was deleted), with its figures. */
export interface PatchFile {
  path: string;
  /** The old path of a rename. */
  pathBefore: string | null;
  change: "added" | "modified" | "deleted" | "renamed";
  additions: number;
  deletions: number;
}

export interface PatchReader {
  read(piece: string): void;
  end(): readonly PatchFile[];
}

/**
 * Parses a unified diff of git, in chunks of any length. This is the only place that knows its format. `take` receives
 * each line with its numbers; without it, only the files are kept.
 */
export function createPatchReader(take?: (file: PatchFile, line: DiffLine) => void): PatchReader {
  const files: PatchFile[] = [];
  let file: PatchFile | null = null;
  let isInHunk = false;
  let before = 0;
  let after = 0;
  let begun: string[] = [];

  function readLine(line: string): void {
    // Inside a hunk every line starts with a space, a sign or a backslash, so this is a header.
    if (line.startsWith("diff --git ")) {
      file = { path: secondName(line), pathBefore: null, change: "modified", additions: 0, deletions: 0 };
      files.push(file);
      isInHunk = false;
    } else if (file === null) return;
    else if (line.startsWith("@@ ")) {
      const starts = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
      [before, after] = [Number(starts?.[1] ?? 0), Number(starts?.[2] ?? 0)];
      isInHunk = true;
      take?.(file, { kind: "hunk", text: line });
    } else if (!isInHunk) readHeader(file, line, take);
    else readChange(file, line);
  }

  function readChange(at: PatchFile, line: string): void {
    switch (line[0]) {
      case "+":
        at.additions += 1;
        take?.(at, { kind: "added", after: after++, text: line.slice(1) });
        break;
      case "-":
        at.deletions += 1;
        take?.(at, { kind: "deleted", before: before++, text: line.slice(1) });
        break;
      case " ":
        take?.(at, { kind: "context", before: before++, after: after++, text: line.slice(1) });
        break;
      case "\\":
        take?.(at, { kind: "note", text: line.slice(1).trim() });
        break;
    }
  }

  return {
    read(piece) {
      const lines = piece.split("\n");
      const rest = lines.pop() as string;
      if (lines.length > 0) {
        readLine(begun.join("") + lines[0]);
        for (const line of lines.slice(1)) readLine(line);
        begun = [];
      }
      begun.push(rest);
    },
    end() {
      readLine(begun.join(""));
      return files;
    },
  };
}

/** The files of a diff, each with its lines. */
export function parsePatch(patch: string): readonly (PatchFile & { lines: readonly DiffLine[] })[] {
  const linesOf = new Map<PatchFile, DiffLine[]>();
  const reader = createPatchReader((file, line) => {
    const lines = linesOf.get(file);
    if (lines) lines.push(line);
    else linesOf.set(file, [line]);
  });
  reader.read(patch);
  return reader.end().map((file) => ({ ...file, lines: linesOf.get(file) ?? [] }));
}

/** The patch of each file of a diff, in the order of `parsePatch`. */
export function splitPatch(patch: string): readonly string[] {
  return patch.split(/^(?=diff --git )/m).filter((text) => text.startsWith("diff --git "));
}

function readHeader(file: PatchFile, line: string, take?: (file: PatchFile, line: DiffLine) => void): void {
  if (line.startsWith("new file ")) file.change = "added";
  else if (line.startsWith("deleted file ")) file.change = "deleted";
  else if (line.startsWith("rename from ")) file.pathBefore = unquote(line.slice("rename from ".length));
  else if (line.startsWith("rename to ")) {
    file.change = "renamed";
    file.path = unquote(line.slice("rename to ".length));
  } else if (/^(\+\+\+ "?b|--- "?a)\//.test(line)) file.path = unquote(line.slice(4)).slice(2);
  if (/^(old|new) mode |^rename (from|to) /.test(line)) take?.(file, { kind: "note", text: line });
  if (line.startsWith("Binary files ")) take?.(file, { kind: "note", text: "Binary file: not shown" });
}

/** Both names are equal here, or a later line is more precise: the second half is the path. */
function secondName(header: string): string {
  const names = header.slice("diff --git ".length);
  return unquote(names.slice(names.length / 2 + 0.5)).replace(/^b\//, "");
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

/** git quotes unusual names, with C escapes and octal bytes. A name that ends unusually has a tab after it. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name.replace(/\t$/, "");
  const encoder = new TextEncoder();
  const bytes: number[] = [];
  for (const [, octal, escaped, plain = ""] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else
      for (const byte of encoder.encode(escaped === undefined ? plain : (escapes[escaped] ?? escaped)))
        bytes.push(byte);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

/** One row of the side-by-side view. If a half is missing, it is empty. An unchanged line is in both halves. */
export interface DiffRow {
  left: DiffLine | null;
  right: DiffLine | null;
  /** Both are the same line, edited: `diffWords` finds where. Left to the renderer, because it is slow. */
  isEdited: boolean;
}

/**
 * Pairs deleted lines with their replacements: runs of equal length count as the same lines, edited. In the one-column
 * view, other runs keep git's order.
 */
export function pairLines(lines: readonly DiffLine[], options: { stacked: boolean }): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  for (let at = 0; at < lines.length; ) {
    const deletedEnd = endOfRun(lines, at, "deleted");
    const addedEnd = endOfRun(lines, deletedEnd, "added");
    if (addedEnd === at) {
      const line = lines[at] as DiffLine;
      rows.push({ left: line, right: line, isEdited: false });
      at += 1;
      continue;
    }
    const deleted = lines.slice(at, deletedEnd);
    const added = lines.slice(deletedEnd, addedEnd);
    const isEdited = deleted.length === added.length;
    if (options.stacked && !isEdited) {
      for (const line of deleted) rows.push({ left: line, right: null, isEdited });
      for (const line of added) rows.push({ left: null, right: line, isEdited });
    } else {
      for (let index = 0; index < Math.max(deleted.length, added.length); index += 1) {
        rows.push({ left: deleted[index] ?? null, right: added[index] ?? null, isEdited });
      }
    }
    at = addedEnd;
  }
  return rows;
}

function endOfRun(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end;
}

export interface Span {
  text: string;
  isChanged: boolean;
}

/** Longer lines are shown truncated, without word marks. */
export const lineCharactersMax = 2_000;
const tokensMax = 240;
/** Below this share of common words, two lines count as different, because marks would only distract. */
const commonShareMin = 0.35;

/** The changed words of a line. Null if the lines have too little in common. */
export function diffWords(before: string, after: string): { before: readonly Span[]; after: readonly Span[] } | null {
  if (Math.max(before.length, after.length) > lineCharactersMax) return null;
  const old = tokenize(before);
  const young = tokenize(after);
  if (old.length > tokensMax || young.length > tokensMax) return null;
  const common = longestCommonTokens(old, young);
  const commonLength = common.reduce((sum, pair) => sum + (old[pair.old] ?? "").length, 0);
  if (commonLength < commonShareMin * Math.max(before.length, after.length)) return null;
  return {
    before: toSpans(old, new Set(common.map((pair) => pair.old))),
    after: toSpans(young, new Set(common.map((pair) => pair.young))),
  };
}

function tokenize(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function longestCommonTokens(old: readonly string[], young: readonly string[]): Array<{ old: number; young: number }> {
  const width = young.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = young.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        old[row] === young[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: Array<{ old: number; young: number }> = [];
  let row = 0;
  let column = 0;
  while (row < old.length && column < young.length) {
    if (old[row] === young[column]) pairs.push({ old: row++, young: column++ });
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** A space between two changed words counts as changed: one mark reads better than two. */
function toSpans(tokens: readonly string[], kept: ReadonlySet<number>): readonly Span[] {
  const isKept = (index: number) => kept.has(index) || index < 0 || index >= tokens.length;
  const spans: Span[] = [];
  tokens.forEach((text, index) => {
    const isBetween = /^\s+$/.test(text) && !isKept(index - 1) && !isKept(index + 1);
    const isChanged = !kept.has(index) || isBetween;
    const last = spans.at(-1);
    if (last && last.isChanged === isChanged) last.text += text;
    else spans.push({ text, isChanged });
  });
  return spans;
}

/**
 * Invisible characters, or characters that change the text around them: controls (except tab and newline),
 * bidirectional and zero-width formatting, tags. Has the g flag; use it only with `replace` and `split`.
 */
export const unseenCharacters = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** The name that is shown for such a character. */
export function unseenName(character: string): string {
  // Common at the end of lines.
  if (character === "\r") return "CR";
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
