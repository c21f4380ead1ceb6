/** A bounded cache of database values, used only while its source reports that changes still arrive. */
export interface FreshMap<V> {
  /** Also undefined while changes may not arrive. */
  get(key: string): V | undefined;
  /** Whether the key is cached, however old. */
  has(key: string): boolean;
  /** Reads a value and caches it, unless it changed while it was being read. */
  load<R extends V | undefined>(key: string, read: () => Promise<R>): Promise<R>;
  delete(key: string): void;
  clear(): void;
  readonly size: number;
}

export function createFreshMap<V>(source: { isFresh(): boolean }, entriesMax: number): FreshMap<V> {
  const entries = new Map<string, V>();
  const loads = new Map<string, Set<{ isOutdated: boolean }>>();

  function outdate(tickets: Iterable<{ isOutdated: boolean }>): void {
    for (const ticket of tickets) ticket.isOutdated = true;
  }

  function remember(key: string, value: V): void {
    // Evicts the oldest entry: cheaper than tracking the order of use.
    if (entries.size >= entriesMax && !entries.has(key)) {
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        break;
      }
    }
    entries.set(key, value);
  }

  return {
    get: (key) => (source.isFresh() ? entries.get(key) : undefined),
    has: (key) => entries.has(key),
    async load(key, read) {
      const ticket = { isOutdated: false };
      const tickets = loads.get(key) ?? new Set();
      loads.set(key, tickets.add(ticket));
      try {
        const value = await read();
        if (value !== undefined && !ticket.isOutdated) remember(key, value);
        return value;
      } finally {
        tickets.delete(ticket);
        if (tickets.size === 0 && loads.get(key) === tickets) loads.delete(key);
      }
    },
    delete(key) {
      entries.delete(key);
      outdate(loads.get(key) ?? []);
    },
    clear() {
      entries.clear();
      for (const tickets of loads.values()) outdate(tickets);
    },
    get size() {
      return entries.size;
    },
  };
}
