// Runs inside the sandbox, and imports nothing of ours. Compares two pictures of a page by the hashes of their rows.

export type Marks = [number, number][];

/** Marks that are closer than this become one. */
const gapRows = 24;

/** Which rows of each side the other does not have, by the rows that both have once, in the same order. */
export function differ(before: readonly number[], now: readonly number[]): { before: Marks; after: Marks } {
  const once = (rows: readonly number[]) => {
    const at = new Map<number, number>();
    rows.forEach((row, y) => void at.set(row, at.has(row) ? -1 : y));
    return at;
  };
  const [old, fresh] = [once(before), once(now)];
  const pairs = before.flatMap((row, y) => {
    const there = fresh.get(row) ?? -1;
    return old.get(row) === y && there !== -1 ? [[y, there] as const] : [];
  });
  const [kept, same] = [new Set<number>(), new Set<number>()];
  const keep = (y: number, there: number) => {
    if (y < 0 || there < 0 || before[y] !== now[there] || before[y] === undefined) return false;
    if (kept.has(y) || same.has(there)) return false;
    kept.add(y);
    same.add(there);
    return true;
  };
  const ends = [[0, 0] as const, [before.length - 1, now.length - 1] as const];
  for (const [y, there] of [...longestRising(pairs), ...ends]) {
    if (!keep(y, there) && !kept.has(y)) continue;
    for (let step = 1; keep(y + step, there + step); ) step += 1;
    for (let step = 1; keep(y - step, there - step); ) step += 1;
  }
  return { before: marksOf(before.length, kept), after: marksOf(now.length, same) };
}

/** The most pairs whose second numbers rise. */
function longestRising(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const tails: number[] = [];
  const previous: number[] = [];
  pairs.forEach(([, there], at) => {
    let low = 0;
    for (let high = tails.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] as number] as readonly [number, number])[1] < there) low = middle + 1;
      else high = middle;
    }
    previous[at] = tails[low - 1] ?? -1;
    tails[low] = at;
  });
  const rising: (readonly [number, number])[] = [];
  for (let at = tails.at(-1) ?? -1; at !== -1; at = previous[at] as number)
    rising.unshift(pairs[at] as [number, number]);
  return rising;
}

function marksOf(rows: number, kept: ReadonlySet<number>): Marks {
  const marks: Marks = [];
  for (let y = 0; y < rows; y++) {
    if (kept.has(y)) continue;
    const last = marks.at(-1);
    if (last && y - last[1] <= gapRows) last[1] = y + 1;
    else marks.push([y, y + 1]);
  }
  return marks;
}
