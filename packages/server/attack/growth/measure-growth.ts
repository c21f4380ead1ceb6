import type { GrowthTarget } from "./targets.ts";

export interface Growth {
  /** Processor time of each size, from the smallest on. */
  ms: readonly number[];
  isTooFast: boolean;
}

export interface GrowthBounds {
  /** Of the shortest text that is timed; each further one is twice as long. */
  charactersFirst: number;
  doublings: number;
  /** A doubled text may take so many times as long. */
  ratioMax: number;
  /** What takes less is not told apart from the machine's noise. */
  msLeast: number;
  msMax: number;
}

/** Doubles a text until its reading takes long enough to be told from noise, and then sees whether time outgrows it. */
export async function measureGrowth(
  target: GrowthTarget,
  grow: (n: number) => string,
  bounds: GrowthBounds,
): Promise<Growth> {
  const ms: number[] = [];
  for (let step = 0; step <= bounds.doublings; step += 1) {
    const text = grow(bounds.charactersFirst * 2 ** step);
    let took = await timed(target, text);
    // One that seems to outgrow its text may have met a pause of the machine: the best of three counts.
    for (let again = 0; again < 2 && outgrows(ms.at(-1), took, bounds); again += 1) {
      took = Math.min(took, await timed(target, text));
    }
    ms.push(took);
    // Even where time grew by the square of the text, the longest one would be read in no time.
    if (took * 4 ** (bounds.doublings - step) < bounds.msLeast) break;
    // Whatever the ratio: a text of this length must not take seconds.
    if (took > bounds.msMax) return { ms, isTooFast: true };
    const [before, last] = [ms.at(-3), ms.at(-2)];
    // Two doublings in a row: a table or a cache that fills up outgrows its text once.
    if (outgrows(last, took, bounds) && outgrows(before, last ?? 0, bounds)) return { ms, isTooFast: true };
  }
  return { ms, isTooFast: false };
}

function outgrows(before: number | undefined, after: number, { ratioMax, msLeast }: GrowthBounds): boolean {
  return before !== undefined && after > msLeast && after > before * ratioMax;
}

async function timed(target: GrowthTarget, text: string): Promise<number> {
  const before = process.cpuUsage();
  await target.read(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
