/** A table that can move to another thread. */
export interface TableData {
  readonly data: Int32Array<ArrayBuffer>;
  readonly size: number;
}

/** The number of files with each word, as a hash table in one array: a Map takes four times as long to fill. */
export interface WordTable extends TableData {
  get(hash: number): number;
  add(words: Uint32Array, by: 1 | -1): void;
  addAll(other: TableData): void;
  copy(): WordTable;
}

// The hash, or 0 for an empty slot; the files with the word.
const slotLength = 2;

export function createTable(from?: TableData): WordTable {
  let data = from?.data ?? new Int32Array(slotLength << 12);
  let size = from?.size ?? 0;
  let mask = data.length / slotLength - 1;

  function slotOf(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const key = data[slot * slotLength] as number;
      if (key === 0 || key === (hash | 0)) return slot * slotLength;
      slot = (slot + 1) & mask;
    }
  }
  function addOne(hash: number, by: number): void {
    let at = slotOf(hash);
    if (data[at] === 0) {
      if (++size * 2 > mask) {
        grow();
        at = slotOf(hash);
      }
      data[at] = hash | 0;
    }
    data[at + 1] = (data[at + 1] as number) + by;
  }
  function grow(): void {
    const old = data;
    data = new Int32Array(old.length * 2);
    mask = data.length / slotLength - 1;
    for (let from = 0; from < old.length; from += slotLength) {
      if (old[from] === 0) continue;
      const to = slotOf((old[from] as number) >>> 0);
      data[to] = old[from] as number;
      data[to + 1] = old[from + 1] as number;
    }
  }
  return {
    get size() {
      return size;
    },
    get data() {
      return data;
    },
    get: (hash) => data[slotOf(hash) + 1] as number,
    add(words, by) {
      for (let i = 0; i < words.length; i++) addOne(words[i] as number, by);
    },
    addAll({ data: other }) {
      for (let at = 0; at < other.length; at += slotLength)
        if (other[at] !== 0) addOne((other[at] as number) >>> 0, other[at + 1] as number);
    },
    copy: () => createTable({ data: data.slice(), size }),
  };
}
