export interface SharedLookupOptions<V> {
  /** How long the first one waits for others. */
  pauseMs: number;
  /** Ids that wait at most; whoever comes when it is full finds nothing. */
  waitingMax: number;
  read(ids: readonly string[]): Promise<ReadonlyMap<string, V>>;
}

/** Looks ids up together: one query after each pause, however many ask. */
export function createSharedLookup<V>(options: SharedLookupOptions<V>): (id: string) => Promise<V | undefined> {
  const waiting = new Set<string>();
  let found: Promise<ReadonlyMap<string, V>> | null = null;

  async function readAfterPause(): Promise<ReadonlyMap<string, V>> {
    await new Promise((resolve) => setTimeout(resolve, options.pauseMs));
    const ids = [...waiting];
    waiting.clear();
    found = null;
    return options.read(ids);
  }

  return async (id) => {
    if (waiting.size >= options.waitingMax && !waiting.has(id)) return undefined;
    waiting.add(id);
    found ??= readAfterPause();
    return (await found).get(id);
  };
}
