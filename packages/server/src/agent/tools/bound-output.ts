/** Cuts a text at a line's end below the bound and says how much is missing. Nothing else bounds a tool's output. */
export function boundOutput(text: string, bytesMax: number, more = "ask for less at a time"): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= bytesMax) return text;
  // Room for the note itself.
  const room = Math.max(0, bytesMax - Buffer.byteLength(more) - 64);
  const lineEnd = bytes.lastIndexOf(0x0a, room);
  const cutAt = lineEnd > 0 ? lineEnd : characterStart(bytes, room);
  const kept = bytes.subarray(0, cutAt).toString();
  const missing = countLines(bytes.subarray(lineEnd > 0 ? cutAt + 1 : cutAt));
  return `${kept}\n… ${missing} more ${missing === 1 ? "line" : "lines"}; ${more}`;
}

/** The last position at or before `at` that begins a UTF-8 character. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

function countLines(bytes: Buffer): number {
  let lines = 1;
  for (let at = bytes.indexOf(0x0a); at !== -1 && at < bytes.byteLength - 1; at = bytes.indexOf(0x0a, at + 1))
    lines += 1;
  return lines;
}
