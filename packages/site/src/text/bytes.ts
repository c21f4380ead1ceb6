// Pages are held as "byte strings": one character a byte (latin1). Everything that Markdown cares about is ASCII, so
// offsets are byte offsets, bytes that are not valid UTF-8 survive every edit, and V8 keeps the text in one byte a character.

export function toByteString(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

export function fromByteString(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

const highByte = /[\x80-\xff]/;

export function isAsciiText(text: string): boolean {
  return !highByte.test(text);
}

/** A piece of a byte string as ordinary text. */
export function decodePiece(piece: string): string {
  return highByte.test(piece) ? Buffer.from(piece, "latin1").toString("utf8") : piece;
}

const beyondAscii = /[^\0-\x7f]/;

/** Ordinary text as a piece of a byte string. */
export function encodePiece(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;
}

const byteOrderMark = "\xef\xbb\xbf";

/** Where the text begins: after a byte order mark, if there is one. */
export function textStart(text: string): number {
  return text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
}
