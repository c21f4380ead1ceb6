import type { GrowthTarget } from "./targets.ts";

export interface Growth {
  /** The CPU time for each size, ascending. */
  ms: readonly number[];
  isTooFast: boolean;
}

export interface GrowthBounds {
  /** The size of the first measured text. Each further one is twice as long. */
  charactersFirst: number;
  doublings: number;
  /** How much longer a doubled text may take. */
  ratioMax: number;
  /** Shorter times are noise. */
  msLeast: number;
  msMax: number;
}

/** Doubles a text until the time is measurable, then checks whether the time grows faster than the text. */
export async function measureGrowth(
  target: GrowthTarget,
  grow: (n: number) => string,
  bounds: GrowthBounds,
): Promise<Growth> {
  const ms: number[] = [];
  for (let step = 0; step <= bounds.doublings; step += 1) {
    const text = grow(bounds.charactersFirst * 2 ** step);
    let took = await timed(target, text);
    // A pause of the machine may look like growth: the best of three counts.
    for (let again = 0; again < 2 && outgrows(ms.at(-1), took, bounds); again += 1) {
      took = Math.min(took, await timed(target, text));
    }
    ms.push(took);
    // Even with quadratic growth, the longest text would be fast.
    if (took * 4 ** (bounds.doublings - step) < bounds.msLeast) break;
    // Whatever the ratio, a text of this length must not take seconds.
    if (took > bounds.msMax) return { ms, isTooFast: true };
    const [before, last] = [ms.at(-3), ms.at(-2)];
    // Two doublings in a row: a cache that fills up may grow once.
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
