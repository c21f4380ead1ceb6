/** What a script in the sandbox wrote: blocks, each after its length. What was cut off is left out. */
export function blocksOf(bytes: Buffer): readonly Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.byteLength; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.byteLength) break;
    blocks.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** A block of JSON. Null: it is none, as what ran in the sandbox may have written it. */
export function recordOf(block: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(block.toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
