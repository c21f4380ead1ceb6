/**
 * JSON text that jsonb accepts: U+0000 and lone surrogates become U+FFFD. `JSON.stringify` writes both as escapes, in
 * keys and values, so one pass over the escapes finds them.
 */
export function toJsonb(value: unknown): string {
  return JSON.stringify(value).replace(/\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/g, (sequence, refused) =>
    refused ? "\uFFFD" : sequence,
  );
}

/** Text columns refuse U+0000. */
export function toText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
