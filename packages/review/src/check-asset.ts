import { crc32 } from "node:zlib";

/** Files that people look at once before they are published: readers' programs run or open them. */
const opened = /\.(?:pdf|mp4|m4v|webm|mov|ogv|mp3|m4a|ogg|wav|woff2?|ttf|otf|eot|vtt|srt|ico|bmp|avif|apng)$/i;

/** Why a reviewer should look at this file first, or null. Images are read block by block, up to their last byte. */
export function problemOfAsset(path: string, bytes: Buffer): string | null {
  if (opened.test(path)) return "a file of this kind needs a review, because it may run or load something when opened";
  return isWholeImage(path, bytes)
    ? null
    : "this is not an image of the kind that its name says, or it has data behind its end";
}

type Size = readonly [width: number, height: number];
/** Larger images stop browsers and builders. */
const sideMax = 2 ** 15;

/** No decoder of pixels: they are native code with flaws of their own. A browser decodes in its sandbox. */
function isWholeImage(path: string, bytes: Buffer): boolean {
  const read = readers[/\.(\w+)$/.exec(path.toLowerCase())?.[1] ?? ""];
  try {
    const size = read?.(bytes) ?? [];
    return size.length === 2 && size.every((side) => side >= 1 && side <= sideMax);
  } catch {
    // A block ends behind the file.
    return false;
  }
}

/** Each returns the size of a whole image, and null or an error for anything else. */
const readers: Readonly<Record<string, (bytes: Buffer) => Size | null>> = {
  png: sizeOfPng,
  gif: sizeOfGif,
  jpg: sizeOfJpeg,
  jpeg: sizeOfJpeg,
  webp: sizeOfWebp,
};

function sizeOfPng(bytes: Buffer): Size | null {
  if (bytes.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n" || nameAt(bytes, 12) !== "IHDR") return null;
  for (let at = 8; ; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return null;
    if (nameAt(bytes, at + 4) === "IEND")
      return end === bytes.length ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : null;
    at = end;
  }
}

function sizeOfGif(bytes: Buffer): Size | null {
  if (!/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) return null;
  const colors = (at: number) => ((bytes.readUInt8(at) & 0x80) === 0 ? 0 : 3 * 2 ** ((bytes.readUInt8(at) & 7) + 1));
  for (let at = 13 + colors(10); ; ) {
    const kind = bytes.readUInt8(at);
    if (kind === 0x3b) return at + 1 === bytes.length ? [bytes.readUInt16LE(6), bytes.readUInt16LE(8)] : null;
    if (kind !== 0x21 && kind !== 0x2c) return null;
    at += kind === 0x21 ? 2 : 11 + colors(at + 9);
    for (let size = bytes.readUInt8(at); size > 0; size = bytes.readUInt8(at)) at += size + 1;
    at += 1;
  }
}

function sizeOfJpeg(bytes: Buffer): Size | null {
  let size: Size | null = null;
  if (bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; ; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker === 0xffd9) return at + 2 === bytes.length ? size : null;
    if (marker < 0xffc0 || marker === 0xffff) return null;
    if (marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker))
      size = [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
    // The picture itself, up to a marker that is no part of it.
    if (marker === 0xffda)
      do at = bytes.indexOf(0xff, at + 1);
      while (at !== -1 && /^(?:00|d[0-7])$/.test(bytes.toString("hex", at + 1, at + 2)));
  }
}

function sizeOfWebp(bytes: Buffer): Size | null {
  if (nameAt(bytes, 0) !== "RIFF" || nameAt(bytes, 8) !== "WEBP" || bytes.readUInt32LE(4) + 8 !== bytes.length)
    return null;
  let at = 12;
  while (at < bytes.length) {
    if (!/^(?:VP8[ LX]|ANIM|ANMF|ALPH|ICCP|EXIF|XMP )$/.test(nameAt(bytes, at))) return null;
    at += 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2);
  }
  if (at !== bytes.length) return null;
  if (nameAt(bytes, 12) === "VP8X") return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if (nameAt(bytes, 12) === "VP8 ") return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  return [(bytes.readUInt16LE(21) & 0x3fff) + 1, ((bytes.readUInt32LE(21) >> 14) & 0x3fff) + 1];
}

function nameAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}
