import type { Prose, Range } from "../parse/prose.ts";
import { isAsciiText } from "../text/bytes.ts";
import { indexLines } from "../text/line-index.ts";
import type { Splice } from "../text/splice.ts";
import type { Term } from "./term.ts";

export interface Left {
  line: number;
  /** The place, to stand after "stays". */
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

/** Where a term still stands in a page that is to be spliced, and in what. One a line and place. */
export function findLeft(
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

/** Byte offsets of a term. Text that is not valid UTF-8 is searched by its bytes. */
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
