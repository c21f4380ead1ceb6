/** The offsets of a page's characters with inline meaning, in order, up to `count`. */
export interface Marks {
  offsets: Uint32Array;
  count: number;
}

/** One entry per byte value: nearly all characters of a page are plain. */
export const isPlain = new Uint8Array(256).fill(1);
for (const char of "\\`[]<{") isPlain[char.charCodeAt(0)] = 0;

// Pages are scanned one at a time, so they share the buffer.
let offsets = new Uint32Array(16 * 1024);

/** Finds the marks of a page in one tight loop over its bytes. Valid until the next page. */
export function findMarks(bytes: Uint8Array): Marks {
  if (offsets.length < bytes.length) offsets = new Uint32Array(bytes.length * 2);
  const into = offsets;
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (isPlain[bytes[i] as number] === 0) into[count++] = i;
  return { offsets: into, count };
}

/** The index of the first mark at or after an offset. */
export function firstMark({ offsets, count }: Marks, offset: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
