import { decodedForms } from "@emend/base/secrets/scan-secrets.ts";

/** Shorter runs of letters and digits are common words. */
const runMin = 16;
/** 8 MiB. Of two million runs, a bit table of this size mistakes one in 300 for one that it has. */
const bitsMax = 2 ** 26;

interface Index {
  texts: readonly string[];
  has(run: string): boolean;
}

/**
 * Whether an address carries text that was read from a context repository, as it is or encoded. An address that the
 * context repository itself contains leaks nothing.
 */
export function createCopyFinder(contextText: readonly string[]): (url: string) => boolean {
  let index: Index | undefined;
  return (url) => {
    const [, tail = ""] = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]*[^/\\?#]*(.*)$/is.exec(url.trim()) ?? [];
    if (tail.length < runMin || contextText.some((text) => text.includes(url.trim()))) return false;
    if (contextText.length === 0) return false;
    index ??= indexOf(contextText.map(lettersOf));
    const { texts, has } = index;
    return decodedForms(tail).some((form) =>
      runsOf(lettersOf(form)).some((run) => has(run) && texts.some((text) => text.includes(run))),
    );
  };
}

const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");

function runsOf(letters: string): readonly string[] {
  return Array.from({ length: Math.max(0, letters.length - runMin + 1) }, (_, at) => letters.slice(at, at + runMin));
}

/** A Bloom filter: searching all that was read for each run of an address took time by the product of both. */
function indexOf(texts: readonly string[]): Index {
  const bits = new Uint32Array(bitsMax / 32);
  for (const text of texts)
    for (let at = 0; at + runMin <= text.length; at += 1)
      for (const place of placesOf(text, at)) bits[place >>> 5] = (bits[place >>> 5] ?? 0) | (1 << (place & 31));
  return { texts, has: (run) => placesOf(run, 0).every((place) => ((bits[place >>> 5] ?? 0) >>> (place & 31)) & 1) };
}

function placesOf(text: string, from: number): readonly [number, number] {
  let [one, two] = [0x811c9dc5, 0x9747b28c];
  for (let at = from; at < from + runMin; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul((two ^ code) + (two >>> 15), 0x85ebca6b);
  }
  return [(one ^ (one >>> 15)) & (bitsMax - 1), (two ^ (two >>> 13)) & (bitsMax - 1)];
}
