/** Files that people look at once before they are published: readers' programs run or open them. */
const opened = /\.(?:pdf|mp4|m4v|webm|mov|ogv|mp3|m4a|ogg|wav|woff2?|ttf|otf|eot|vtt|srt|ico|bmp|avif|apng)$/i;

/** Why a reviewer should look at this file first, or null. Images are read up to their last byte. */
export function problemOfAsset(path: string, bytes: Buffer): string | null {
  if (opened.test(path)) return "a file of this kind needs a review, because it may run or load something when opened";
  return isWholeImage(path, bytes)
    ? null
    : "this is not an image of the kind that its name says, or it has data behind its end";
}

function isWholeImage(path: string, bytes: Buffer): boolean {
  const kind = /\.(\w+)$/.exec(path.toLowerCase())?.[1];
  if (kind === "png") return isPng(bytes);
  if (kind === "gif")
    return /^GIF8[79]a/.test(bytes.toString("latin1", 0, 6)) && bytes.length > 13 && bytes.at(-1) === 0x3b;
  if (kind === "jpg" || kind === "jpeg")
    return (
      bytes.readUIntBE(0, Math.min(3, bytes.length) || 1) === 0xffd8ff &&
      bytes.subarray(-2).equals(Buffer.from([0xff, 0xd9]))
    );
  if (kind !== "webp" || bytes.length < 20) return false;
  const size = bytes.readUInt32LE(4) + 8;
  return (
    bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP" && size === bytes.length
  );
}

/** Chunks from the signature to IEND, which is last, with a size between 1 and 2^24 in both directions. */
function isPng(bytes: Buffer): boolean {
  if (bytes.length < 57 || bytes.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") return false;
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (bytes.toString("latin1", 12, 16) !== "IHDR" || width * height === 0 || Math.max(width, height) > 2 ** 24)
    return false;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (bytes.toString("latin1", at + 4, at + 8) === "IEND") return end === bytes.length;
    at = end;
  }
  return false;
}
