export interface FailureThrottle {
  isBlocked(address: string): boolean;
  fail(address: string): void;
  readonly size: number;
}

/**
 * Counts failures by address in a leaking bucket: `failuresMax` at once, then as many as leak out in `windowMs`. Holds
 * `addressesMax` at most; the one that failed longest ago makes room.
 */
export function createFailureThrottle(options: {
  failuresMax: number;
  windowMs: number;
  addressesMax: number;
  now: () => number;
}): FailureThrottle {
  const buckets = new Map<string, { level: number; atMs: number }>();

  function levelOf(address: string, nowMs: number): number {
    const bucket = buckets.get(address);
    if (!bucket) return 0;
    return Math.max(0, bucket.level - ((nowMs - bucket.atMs) * options.failuresMax) / options.windowMs);
  }

  return {
    isBlocked: (address) => buckets.has(address) && levelOf(address, options.now()) > options.failuresMax - 1,
    fail(address) {
      const nowMs = options.now();
      const level = Math.min(options.failuresMax, levelOf(address, nowMs) + 1);
      buckets.delete(address);
      for (const oldest of buckets.keys()) {
        if (buckets.size < options.addressesMax) break;
        buckets.delete(oldest);
      }
      buckets.set(address, { level, atMs: nowMs });
    },
    get size() {
      return buckets.size;
    },
  };
}
