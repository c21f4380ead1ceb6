/** Room for the last line, which counts what is left out. */
const tailBytesMax = 200;

/** As many items as fit, and a last line that counts the rest. `more` receives the number of shown items. */
export function fitItems(
  items: readonly string[],
  bytesMax: number,
  more: (shown: number) => string,
): { text: string; shown: number } {
  const room = Math.max(0, bytesMax - tailBytesMax);
  let bytes = 0;
  let shown = 0;
  for (const item of items) {
    bytes += Buffer.byteLength(item) + 1;
    if (bytes > (shown === items.length - 1 ? bytesMax : room)) break;
    shown += 1;
  }
  const kept = items.slice(0, shown);
  // An item that is larger than the whole limit is truncated.
  if (shown === 0 && items[0] !== undefined) {
    kept.push(cutText(items[0], room));
    shown = 1;
  }
  const tail = more(shown);
  return { text: [...kept, ...(tail === "" ? [] : [tail])].join("\n"), shown };
}

/** The last resort for any tool: cuts at a line end and says how many lines are missing. */
export function boundOutput(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= bytesMax) return text;
  const note = "; ask for less at a time";
  const room = Math.max(0, bytesMax - note.length - 40);
  const lineEnd = bytes.lastIndexOf(0x0a, room);
  const cutAt = lineEnd > 0 ? lineEnd : characterStart(bytes, room);
  const missing = countLines(bytes.subarray(lineEnd > 0 ? cutAt + 1 : cutAt));
  return `${bytes.subarray(0, cutAt).toString()}\n… ${missing} more ${missing === 1 ? "line" : "lines"}${note}`;
}

function cutText(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= bytesMax) return text;
  return `${bytes.subarray(0, characterStart(bytes, bytesMax - 3)).toString()}…`;
}

/** The last position at or before `at` that begins a UTF-8 character. */
function characterStart(bytes: Buffer, at: number): number {
  let start = Math.max(0, at);
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

function countLines(bytes: Buffer): number {
  let lines = 1;
  for (let at = bytes.indexOf(0x0a); at !== -1 && at < bytes.byteLength - 1; at = bytes.indexOf(0x0a, at + 1))
    lines += 1;
  return lines;
}
