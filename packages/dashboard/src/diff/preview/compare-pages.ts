import type { DiffLine } from "@emend/contract";
import type { Nodes } from "mdast";
import { parsePage } from "./parse-page.ts";

/** A top-level part of a page. The front matter is one without a node. */
export interface Block {
  node: Nodes | null;
  /** Lines of the file, from 1. */
  start: number;
  end: number;
  text: string;
  /** The node's own line numbers begin after the front matter. */
  offset: number;
}

/** Blocks that are beside each other: one that stayed, or a run of those that changed. */
export interface BlockRow {
  before: readonly Block[];
  after: readonly Block[];
  isSame: boolean;
}

export interface ComparedPage {
  rows: readonly BlockRow[];
  /** The changed lines of each side. */
  deleted: ReadonlySet<number>;
  added: ReadonlySet<number>;
}

/** Compares two versions of a page block by block. `lines` is the diff between them. */
export function comparePages(
  path: string,
  texts: { before: string; after: string },
  lines: readonly DiffLine[],
): ComparedPage {
  const [before, after] = [blocksOf(path, texts.before), blocksOf(path, texts.after)];
  const afterOf = mapLines(lines, texts.before.split("\n").length);
  const byStart = new Map(after.map((block, index) => [block.start, index]));
  const rows: BlockRow[] = [];
  let [left, right] = [0, 0];
  const putChanged = (leftEnd: number, rightEnd: number) => {
    if (left === leftEnd && right === rightEnd) return;
    rows.push({ before: before.slice(left, leftEnd), after: after.slice(right, rightEnd), isSame: false });
  };
  for (const [index, block] of before.entries()) {
    const other = byStart.get(afterOf.get(block.start) ?? 0);
    if (other === undefined || other < right || after[other]?.text !== block.text) continue;
    putChanged(index, other);
    rows.push({ before: [block], after: after.slice(other, other + 1), isSame: true });
    [left, right] = [index + 1, other + 1];
  }
  putChanged(before.length, after.length);
  return {
    rows,
    deleted: new Set(lines.flatMap((line) => (line.kind === "deleted" ? [line.before] : []))),
    added: new Set(lines.flatMap((line) => (line.kind === "added" ? [line.after] : []))),
  };
}

function blocksOf(path: string, text: string): readonly Block[] {
  const { frontMatter, bodyLine, tree } = parsePage(path, text);
  const lines = text.split("\n");
  const offset = bodyLine - 1;
  const textOf = (start: number, end: number) => lines.slice(start - 1, end).join("\n");
  const top = { node: null, start: 1, end: offset, text: textOf(1, offset), offset };
  const rest = tree.children.map((node) => {
    const start = offset + (node.position?.start.line ?? 1);
    const end = offset + (node.position?.end.line ?? 1);
    return { node, start, end, text: textOf(start, end), offset };
  });
  return frontMatter === null ? rest : [top, ...rest];
}

/** Where each unchanged line of the old file is in the new one. */
function mapLines(lines: readonly DiffLine[], count: number): ReadonlyMap<number, number> {
  const map = new Map<number, number>();
  let [before, after] = [1, 1];
  const keep = (end: number) => {
    while (before < end) map.set(before++, after++);
  };
  for (const line of lines) {
    if (line.kind === "hunk") keep(startsOf(line.text).before);
    else if (line.kind === "context") keep(line.before + 1);
    else if (line.kind === "deleted") {
      keep(line.before);
      before += 1;
    } else if (line.kind === "added") {
      keep(before + line.after - after);
      after += 1;
    }
  }
  keep(count + 1);
  return map;
}

/** The lines at which a hunk begins. One without lines on a side names the line before it. */
function startsOf(header: string): { before: number; after: number } {
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(header);
  const start = (line = "1", count = "1") => Number(line) + (count === "0" ? 1 : 0);
  return { before: start(found?.[1], found?.[2]), after: start(found?.[3], found?.[4]) };
}

/** A file before its diff. Null if the text is not the one that the diff leads to. */
export function textBefore(after: string, lines: readonly DiffLine[]): string | null {
  const there = after.split("\n");
  const before: string[] = [];
  let next = 1;
  const copy = (end: number) => {
    before.push(...there.slice(next - 1, end - 1));
    next = end;
  };
  for (const line of lines) {
    if (line.kind === "hunk") copy(startsOf(line.text).after);
    if (line.kind === "deleted") before.push(line.text);
    if (line.kind !== "context" && line.kind !== "added") continue;
    if (there[line.after - 1] !== line.text) return null;
    if (line.kind === "context") before.push(line.text);
    next = line.after + 1;
  }
  copy(there.length + 1);
  return before.join("\n");
}

/** The passages in a diff, as two short pages and the diff between them. */
export function passagesOf(lines: readonly DiffLine[]): {
  before: string;
  after: string;
  lines: readonly DiffLine[];
} {
  const [before, after]: [string[], string[]] = [[], []];
  const renumbered: DiffLine[] = [];
  for (const line of lines) {
    if (line.kind === "hunk" && before.length + after.length > 0) {
      for (const text of ["", "---", ""]) {
        before.push(text);
        after.push(text);
      }
    }
    if (line.kind === "context" || line.kind === "deleted") before.push(line.text);
    if (line.kind === "context" || line.kind === "added") after.push(line.text);
    if (line.kind === "context") renumbered.push({ ...line, before: before.length, after: after.length });
    if (line.kind === "deleted") renumbered.push({ ...line, before: before.length });
    if (line.kind === "added") renumbered.push({ ...line, after: after.length });
  }
  return { before: before.join("\n"), after: after.join("\n"), lines: renumbered };
}
