import { crc32 } from "node:zlib";

export interface Picture {
  type: PictureType;
  width: number;
  height: number;
  /** Without metadata, and without anything behind its end. */
  bytes: Buffer;
}

type PictureType = "image/png" | "image/jpeg" | "image/webp";

const sideMax = 16_384;
/** What a decoder would need four bytes for each of. */
const pixelsMax = 40_000_000;
/** Programs write blocks of some kilobytes. Millions of empty ones would keep the main thread busy. */
const blocksMax = 20_000;

/**
 * A picture copied block by block, with those that show it and no others: no place, camera, text or preview is left. Of a
 * photo's metadata, only how to turn it stays, and its size is the one that people see. No
 * decoder of pixels runs here: they are native code with flaws of their own. Null: it is no whole picture of a known type.
 */
export function cleanPicture(bytes: Buffer): Picture | "too large" | null {
  let found: Picture | null;
  try {
    found = cleanPng(bytes) ?? cleanJpeg(bytes) ?? cleanWebp(bytes);
  } catch (error) {
    // A block ends behind the file.
    if (error instanceof RangeError) return null;
    throw error;
  }
  if (found === null || found.width < 1 || found.height < 1) return null;
  const isTooLarge = Math.max(found.width, found.height) > sideMax || found.width * found.height > pixelsMax;
  return isTooLarge ? "too large" : found;
}

const pngStart = "\x89PNG\r\n\x1a\n";
const pngBlocks = new Set(["IHDR", "PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "IDAT", "IEND"]);

function cleanPng(bytes: Buffer): Picture | null {
  if (bytes.toString("latin1", 0, 8) !== pngStart || nameAt(bytes, 12) !== "IHDR") return null;
  const kept = [bytes.subarray(0, 8)];
  for (let at = 8, blocks = 0; ; blocks += 1) {
    if (blocks > blocksMax) return null;
    const end = at + 12 + bytes.readUInt32BE(at);
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return null;
    const name = nameAt(bytes, at + 4);
    if (pngBlocks.has(name)) kept.push(bytes.subarray(at, end));
    if (name === "IEND") break;
    at = end;
  }
  return {
    type: "image/png",
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    bytes: Buffer.concat(kept),
  };
}

const [startOfImage, endOfImage, startOfScan, exif, adobe, comment] = [0xffd8, 0xffd9, 0xffda, 0xffe1, 0xffee, 0xfffe];

function cleanJpeg(bytes: Buffer): Picture | null {
  if (bytes.readUInt16BE(0) !== startOfImage) return null;
  const kept = [bytes.subarray(0, 2)];
  let size: [height: number, width: number] | null = null;
  let turn = 1;
  for (let at = 2, blocks = 0; ; blocks += 1) {
    if (blocks > blocksMax) return null;
    const marker = bytes.readUInt16BE(at);
    if (marker === endOfImage) {
      kept.push(bytes.subarray(at, at + 2));
      break;
    }
    if (marker < 0xffc0 || marker === 0xffff) return null;
    let end = at + 2 + bytes.readUInt16BE(at + 2);
    if (marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker))
      size = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
    if (marker === startOfScan) {
      end = endOfScan(bytes, end);
      if (end === -1) return null;
    }
    const isOfProgram = (marker >= 0xffe0 && marker <= 0xffef && marker !== adobe) || marker === comment;
    if (!isOfProgram) kept.push(bytes.subarray(at, end));
    if (marker === exif && turn === 1) turn = turnIn(bytes.subarray(at + 4, end));
    at = end;
  }
  if (size === null) return null;
  if (turn > 1) kept.splice(1, 0, exifOf(turn));
  // From 5 on, it lies on its side.
  const [width, height] = turn > 4 ? size : size.toReversed();
  return { type: "image/jpeg", width: width ?? 0, height: height ?? 0, bytes: Buffer.concat(kept) };
}

const exifStart = "Exif\0\0";
const orientation = 0x0112;

/** How to turn a photo, 1 to 8, as Exif has it. 1: not at all, or nothing that can be read. */
function turnIn(segment: Buffer): number {
  const tiff = segment.subarray(exifStart.length);
  const order = tiff.toString("latin1", 0, 4);
  if (segment.toString("latin1", 0, exifStart.length) !== exifStart || !["II*\0", "MM\0*"].includes(order)) return 1;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const isLittle = order === "II*\0";
  try {
    const table = view.getUint32(4, isLittle);
    for (let at = table + 2; at < table + 2 + 12 * view.getUint16(table, isLittle); at += 12) {
      if (view.getUint16(at, isLittle) !== orientation) continue;
      const turn = view.getUint16(at + 8, isLittle);
      return turn >= 1 && turn <= 8 ? turn : 1;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return 1;
}

/** A segment with this one field. */
function exifOf(turn: number): Buffer {
  const head = Buffer.from(`\xff\xe1\0\x22${exifStart}MM\0*\0\0\0\x08\0\x01`, "latin1");
  const field = Buffer.from([orientation >> 8, orientation & 0xff, 0, 3, 0, 0, 0, 1, 0, turn, 0, 0]);
  return Buffer.concat([head, field, Buffer.alloc(4)]);
}

/** The next marker that is no part of the pixels. Byte by byte: pixels may have millions of escaped ones. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
  return -1;
}

const [alpha, animated] = [0x10, 0x02];

function cleanWebp(bytes: Buffer): Picture | null {
  if (nameAt(bytes, 0) !== "RIFF" || nameAt(bytes, 8) !== "WEBP") return null;
  const kept: Buffer[] = [];
  let size: [width: number, height: number] | null = null;
  const fileEnd = bytes.readUInt32LE(4) + 8;
  if (fileEnd > bytes.length) return null;
  let hasPixels = false;
  for (let at = 12, blocks = 0; at < fileEnd; blocks += 1) {
    if (blocks > blocksMax) return null;
    const name = nameAt(bytes, at);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    if (end > bytes.length) return null;
    const block = Buffer.from(bytes.subarray(at, end));
    if (name === "VP8X") {
      if ((block.readUInt8(8) & animated) !== 0) return null;
      block.writeUInt8(block.readUInt8(8) & alpha, 8);
      size = [block.readUIntLE(12, 3) + 1, block.readUIntLE(15, 3) + 1];
    }
    if (name === "VP8 ") size ??= [block.readUInt16LE(14) & 0x3fff, block.readUInt16LE(16) & 0x3fff];
    if (name === "VP8L") size ??= [(block.readUInt16LE(9) & 0x3fff) + 1, ((block.readUInt32LE(9) >> 14) & 0x3fff) + 1];
    hasPixels ||= name === "VP8 " || name === "VP8L";
    if (["VP8X", "ALPH", "VP8 ", "VP8L"].includes(name)) kept.push(block);
    at = end;
  }
  if (size === null || !hasPixels) return null;
  const head = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  head.writeUInt32LE(4 + kept.reduce((sum, block) => sum + block.length, 0), 4);
  return { type: "image/webp", width: size[0], height: size[1], bytes: Buffer.concat([head, ...kept]) };
}

function nameAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}
