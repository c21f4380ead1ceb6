/** Files that people look at once before they are published: readers' programs run or open them. */
const opened = /\.(?:pdf|mp4|m4v|webm|mov|ogv|mp3|m4a|ogg|wav|woff2?|ttf|otf|eot|vtt|srt|ico|bmp|avif|apng)$/i;
/** How the pictures that need no review begin and end. No decoder of pixels: a browser decodes in its sandbox. */
const kinds: ReadonlyArray<readonly [name: RegExp, start: RegExp, end: RegExp]> = [
  [/\.png$/i, /^\x89PNG\r\n[\s\S]{6}IHDR/, /IEND\xae\x42\x60\x82$/],
  [/\.gif$/i, /^GIF8[79]a/, /\0;$/],
  [/\.jpe?g$/i, /^\xff\xd8\xff/, /\xff\xd9$/],
  [/\.webp$/i, /^RIFF[\s\S]{4}WEBPVP8[ LX]/, /$/],
];
/** Larger images stop browsers and builders. */
const sideMax = 2 ** 15;

/** Why a reviewer should look at this file first, or null. */
export function problemOfAsset(path: string, bytes: Buffer): string | null {
  if (opened.test(path)) return "A file of this kind needs a review: it may run or load something when opened.";
  const [start, end] = [bytes.toString("latin1", 0, 32), bytes.toString("latin1", Math.max(0, bytes.length - 8))];
  const isWhole = kinds.some(([name, head, tail]) => name.test(path) && head.test(start) && tail.test(end));
  const isRiff = start.startsWith("RIFF");
  if (!isWhole || (isRiff && bytes.readUInt32LE(4) + 8 !== bytes.length))
    return "This is not an image of the kind that its name says, or it has data behind its end.";
  const sides = start.startsWith("\x89")
    ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
    : start.startsWith("GIF")
      ? [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]
      : [];
  return sides.every((side) => side >= 1 && side <= sideMax) ? null : "This image is too large for browsers.";
}
