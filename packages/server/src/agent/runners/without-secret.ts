/**
 * The same bytes with every occurrence of a secret overwritten, piece by piece: only what may be the beginning of one is
 * held back until the next piece.
 */
export async function* withoutSecret(pieces: AsyncIterable<Uint8Array>, secret: string): AsyncIterable<Buffer> {
  const needle = Buffer.from(secret);
  const blank = Buffer.alloc(needle.length, "*");
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([held, piece]);
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at)) blank.copy(bytes, at);
    const keep = beginningAtEnd(bytes, needle);
    held = bytes.subarray(bytes.length - keep);
    if (bytes.length > keep) yield bytes.subarray(0, bytes.length - keep);
  }
  if (held.length > 0) yield held;
}

/** How many of the last bytes may be the first ones of the needle. */
function beginningAtEnd(bytes: Buffer, needle: Buffer): number {
  for (let length = Math.min(needle.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) return length;
  }
  return 0;
}
