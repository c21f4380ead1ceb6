import { encodePiece } from "../text/bytes.ts";

const seed = 0x811c9dc5;
const prime = 0x01000193;

/** Two words in a billion collide: then a stale reference is missed. */
export function hashWord(word: string): number {
  let hash = seed;
  for (let i = 0; i < word.length; i++) {
    const c = word.charCodeAt(i);
    // Rare, and the check of every word would take longer than its hash.
    if (c > 127) return hashBytes(Buffer.from(encodePiece(word), "latin1")) >>> 0;
    hash = Math.imul(hash ^ c, prime);
  }
  // Tables use 0 for an empty slot.
  return hash >>> 0 || 1;
}

/** What follows a text with the hash `from`. */
function hashBytes(bytes: Uint8Array, start = 0, end = bytes.length, from = seed): number {
  let hash = from;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), prime);
  return hash || 1;
}

// Letters, digits, `_`, `$` and non-ASCII bytes.
const digit = 2;
const wordKind = new Uint8Array(256);
for (let c = 0; c < 256; c++) {
  const character = String.fromCharCode(c);
  if (/\d/.test(character)) wordKind[c] = digit;
  else if (c > 127 || /[\w$]/.test(character)) wordKind[c] = 1;
}
const isRoute = new Uint8Array(256);
for (let c = 0; c < 256; c++) isRoute[c] = /[\w{}<>:[\]$.*~/-]/.test(String.fromCharCode(c)) ? 1 : 0;
const isParameter = new Uint8Array(256);
for (const c of Buffer.from("{}:<>[]$*")) isParameter[c] = 1;

const wordMax = 80;
const routeMax = 200;

/** A route with normalized parameters: `/v2/jobs/:id` and `/v2/jobs/{job}` are equal. */
export function plainRoute(route: string): string {
  const segments = route.split("/").filter((segment) => segment !== "");
  return segments.map((segment) => `/${/[{}:<>[\]$*]/.test(segment) ? "{}" : segment}`).join("");
}

/** The hash of the route's plain form. Most routes are plain already. */
function hashRoute(bytes: Uint8Array, start: number, end: number): number {
  let last = 0;
  for (let at = start; at < end; at++) {
    const c = bytes[at] as number;
    if (isParameter[c] === 1 || (c === 47 && (last === 47 || at + 1 === end)))
      return hashWord(plainRoute(Buffer.from(bytes.subarray(start, end)).toString("latin1"))) | 0;
    last = c;
  }
  return hashBytes(bytes, start, end);
}

/**
 * The words of a file, as hashes: identifiers, `kebab-case` words, `--flags` and routes. A word that occurs often may be
 * listed more than once. The answer is valid until the next call.
 */
export type WordReader = (bytes: Uint8Array) => Uint32Array;

const flagSeed = hashBytes(Buffer.from("--"));

export function createWordReader(): WordReader {
  // The last word with each end of its hash. A word that another one has replaced is listed again, which a larger table
  // would prevent, but this one stays in the processor's cache.
  let recent = new Int32Array(1 << 12);
  let words = new Uint32Array(1 << 14);
  return (bytes) => {
    let slots = 256;
    while (slots * 8 < bytes.length) slots *= 2;
    if (slots > recent.length) recent = new Int32Array(slots);
    else recent.fill(0, 0, slots);
    // A word and what follows it are two bytes. A long word or a route is one more.
    if (bytes.length + 2 > words.length) words = new Uint32Array(bytes.length * 2);
    return words.subarray(0, readWords(bytes, recent.subarray(0, slots), words));
  };
}

function readWords(bytes: Uint8Array, recent: Int32Array, words: Uint32Array): number {
  const end = bytes.length;
  const mask = recent.length - 1;
  const kinds = wordKind;
  let count = 0;
  let i = 0;
  while (i < end) {
    let c = bytes[i] as number;
    if (kinds[c] === 0) {
      i++;
      if (c === 47 && i < end) {
        const routeEnd = endOfRoute(bytes, i - 1, end);
        if (routeEnd > 0) words[count++] = hashRoute(bytes, i - 1, routeEnd);
      }
      continue;
    }
    const start = i;
    let hash = Math.imul(seed ^ c, prime);
    for (i++; i < end; i++) {
      c = bytes[i] as number;
      if (kinds[c] === 0) break;
      hash = Math.imul(hash ^ c, prime);
    }
    if (i - start > wordMax || kinds[bytes[start] as number] === digit) continue;
    const slot = (hash ^ (hash >>> 15)) & mask;
    if (recent[slot] !== hash) {
      recent[slot] = hash;
      words[count++] = hash || 1;
    }
    const isAfterDash = start > 0 && bytes[start - 1] === 45;
    if (!isAfterDash && c !== 45) continue;
    const isFlag = isAfterDash && start > 1 && bytes[start - 2] === 45;
    const isJoined = isAfterDash && start > 1 && wordKind[bytes[start - 2] as number] !== 0;
    const isLong = i + 1 < end && c === 45 && wordKind[bytes[i + 1] as number] !== 0;
    const longEnd = isFlag || (isLong && !isJoined) ? endOfLong(bytes, start, end) : 0;
    if (longEnd > i) words[count++] = hashBytes(bytes, start, longEnd);
    if (longEnd > 0 && isFlag) words[count++] = hashBytes(bytes, start, longEnd, flagSeed);
  }
  return count;
}

/** The end of a `kebab-case` word, or 0 if it is too long. */
function endOfLong(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  for (; at < end && at - start <= wordMax; at++) {
    if (wordKind[bytes[at] as number] !== 0) continue;
    if (bytes[at] !== 45 || at + 1 >= end || wordKind[bytes[at + 1] as number] === 0) break;
  }
  return at - start > wordMax ? 0 : at;
}

/** The end of a route, or 0: a file path, a comment, a closing tag or a division. */
function endOfRoute(bytes: Uint8Array, start: number, end: number): number {
  const last = start > 0 ? (bytes[start - 1] as number) : 10;
  const next = bytes[start + 1] as number;
  if (wordKind[last] !== 0 || last === 46 || last === 47 || last === 60 || last === 42 || last === 41 || last === 93)
    return 0;
  if (isRoute[next] !== 1 || next === 47 || next === 42) return 0;
  let at = start;
  while (at < end && at - start <= routeMax && isRoute[bytes[at] as number] === 1) at++;
  if (at - start > routeMax) return 0;
  // In YAML a route is a key: the trailing colon is not part of it.
  return bytes[at - 1] === 58 ? at - 1 : at;
}
