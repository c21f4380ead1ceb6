/** A table that can move to another thread. */
export interface TableData {
  readonly data: Int32Array<ArrayBuffer>;
  readonly size: number;
}

/** The number of files with each word, as a hash table in one array: a Map takes four times as long to fill. */
export interface WordTable extends TableData {
  get(hash: number): number;
  add(words: Uint32Array, by: number): void;
  addAll(other: TableData): void;
  copy(): WordTable;
}

// Two elements a word: its hash, or 0 where there is none, and the number of files.
const width = 2;

/** Where a word is, or where it would be. */
function placeOf(hash: number, data: Int32Array): number {
  const end = data.length - 1;
  let at = ((hash ^ (hash >>> 15)) << 1) & end;
  while (data[at] !== hash && data[at] !== 0) at = (at + width) & end;
  return at;
}

function enlarged(data: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(data.length * 2);
  for (let from = 0; from < data.length; from += width) {
    if (data[from] === 0) continue;
    const to = placeOf(data[from] as number, larger);
    larger[to] = data[from] as number;
    larger[to + 1] = data[from + 1] as number;
  }
  return larger;
}

export function createTable(from?: TableData): WordTable {
  let data = from?.data ?? new Int32Array(width << 12);
  let size = from?.size ?? 0;

  // Every word of every file comes here, so its loop reads no variable of the outer function.
  function add(words: Uint32Array, by: number): void {
    let slots = data;
    for (let i = 0; i < words.length; i++) {
      const hash = (words[i] as number) | 0;
      const at = placeOf(hash, slots);
      slots[at + 1] = (slots[at + 1] as number) + by;
      if (slots[at] === hash) continue;
      slots[at] = hash;
      // At most half full.
      if (++size * width * 2 > slots.length) {
        slots = enlarged(slots);
        data = slots;
      }
    }
  }
  return {
    get size() {
      return size;
    },
    get data() {
      return data;
    },
    get: (hash) => data[placeOf(hash | 0, data) + 1] as number,
    add,
    addAll({ data: other }) {
      const one = new Uint32Array(1);
      for (let at = 0; at < other.length; at += width) {
        one[0] = other[at] as number;
        if (one[0] !== 0) add(one, other[at + 1] as number);
      }
    },
    copy: () => createTable({ data: data.slice(), size }),
  };
}
