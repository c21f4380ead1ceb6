/** A mutex per key: one piece of work at a time for each key; callers with the same key queue up. */
export interface KeyedMutex {
  /** Null if too many callers of this key are waiting. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> | null;
}

export function createKeyedMutex({ waitingMax }: { waitingMax: number }): KeyedMutex {
  const lines = new Map<string, { tail: Promise<unknown>; length: number }>();
  return {
    run(key, work) {
      const line = lines.get(key) ?? { tail: Promise.resolve(), length: 0 };
      if (line.length > waitingMax) return null;
      lines.set(key, line);
      line.length += 1;
      const turn = line.tail.then(work).finally(() => {
        line.length -= 1;
        if (line.length === 0) lines.delete(key);
      });
      line.tail = turn.catch(() => undefined);
      return turn;
    },
  };
}
