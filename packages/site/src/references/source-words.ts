import { encodePiece } from "../text/bytes.ts";

const seed = 0x811c9dc5;
const prime = 0x01000193;

/** Two words in a billion collide: then a stale reference is missed. */
export function hashWord(word: string): number {
  let hash = seed;
  for (let i = 0; i < word.length; i++) {
    const c = word.charCodeAt(i);
    // Rare, and the check of every word would take longer than its hash.
    if (c > 127) return hashBytes(Buffer.from(encodePiece(word), "latin1")) >>> 0 || 1;
    hash = Math.imul(hash ^ c, prime);
  }
  // Tables use 0 for an empty slot.
  return hash >>> 0 || 1;
}

/** What follows a text with the hash `from`. */
function hashBytes(bytes: Uint8Array, start = 0, end = bytes.length, from = seed): number {
  let hash = from;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), prime);
  return hash;
}

// Letters, digits, `_`, `$` and non-ASCII bytes.
const digit = 2;
const wordKind = new Uint8Array(256);
for (let c = 0; c < 256; c++) {
  const character = String.fromCharCode(c);
  if (/\d/.test(character)) wordKind[c] = digit;
  else if (c > 127 || /[\w$]/.test(character)) wordKind[c] = 1;
}
// As `wordKind`, and a slash, which may start a route.
const slash = 4;
const skipKind = wordKind.slice();
skipKind[47] = slash;
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

const parameter = Buffer.from("/{}");

/** The hash of the route's plain form. */
function hashRoute(bytes: Uint8Array, start: number, end: number): number {
  let hash = seed;
  for (let from = start, to = start; from < end; from = to) {
    let isPlain = true;
    for (to++; to < end && bytes[to] !== 47; to++) if (isParameter[bytes[to] as number] === 1) isPlain = false;
    if (to > from + 1) hash = isPlain ? hashBytes(bytes, from, to, hash) : hashBytes(parameter, 0, 3, hash);
  }
  return hash || 1;
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

// Most of the time of an index is spent in its two inner loops: what happens less often is in functions of its own.
function readWords(bytes: Uint8Array, recent: Int32Array, words: Uint32Array): number {
  const end = bytes.length;
  const mask = recent.length - 1;
  let count = 0;
  let i = 0;
  while (i < end) {
    let c = 0;
    let kind = 0;
    do {
      c = bytes[i++] as number;
      kind = skipKind[c] as number;
    } while (kind === 0 && i < end);
    if (kind === 0) break;
    const start = i - 1;
    if (kind === slash) {
      count = readRoute(bytes, start, words, count);
      continue;
    }
    let hash = Math.imul(seed ^ c, prime);
    for (; i < end; i++) {
      c = bytes[i] as number;
      if (wordKind[c] === 0) break;
      hash = Math.imul(hash ^ c, prime);
    }
    if (i - start > wordMax || kind === digit) continue;
    const slot = (hash ^ (hash >>> 15)) & mask;
    if (recent[slot] !== hash) {
      recent[slot] = hash;
      words[count++] = hash || 1;
    }
    if (c === 45 || (start > 0 && bytes[start - 1] === 45)) count = readLong(bytes, start, i, words, count);
  }
  return count;
}

/** Adds the route that starts at a slash, if one does. Returns the new count. */
function readRoute(bytes: Uint8Array, start: number, words: Uint32Array, count: number): number {
  const end = endOfRoute(bytes, start);
  if (end === 0) return count;
  words[count] = hashRoute(bytes, start, end);
  return count + 1;
}

/** Adds the `kebab-case` word or the flag that starts with a word next to a dash. Returns the new count. */
function readLong(bytes: Uint8Array, start: number, wordEnd: number, words: Uint32Array, count: number): number {
  const isAfterDash = start > 0 && bytes[start - 1] === 45;
  const isFlag = isAfterDash && start > 1 && bytes[start - 2] === 45;
  const isJoined = isAfterDash && start > 1 && wordKind[bytes[start - 2] as number] !== 0;
  const isLong = wordEnd + 1 < bytes.length && bytes[wordEnd] === 45 && wordKind[bytes[wordEnd + 1] as number] !== 0;
  const end = isFlag || (isLong && !isJoined) ? endOfLong(bytes, start) : 0;
  let next = count;
  if (end > wordEnd) words[next++] = hashBytes(bytes, start, end) || 1;
  if (end > 0 && isFlag) words[next++] = hashBytes(bytes, start, end, flagSeed) || 1;
  return next;
}

/** The end of a `kebab-case` word, or 0 if it is too long. */
function endOfLong(bytes: Uint8Array, start: number): number {
  const end = bytes.length;
  let at = start;
  for (; at < end && at - start <= wordMax; at++) {
    if (wordKind[bytes[at] as number] !== 0) continue;
    if (bytes[at] !== 45 || at + 1 >= end || wordKind[bytes[at + 1] as number] === 0) break;
  }
  return at - start > wordMax ? 0 : at;
}

/** The end of a route, or 0: a file path, a comment, a closing tag or a division. */
function endOfRoute(bytes: Uint8Array, start: number): number {
  const end = bytes.length;
  if (start + 1 >= end) return 0;
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
