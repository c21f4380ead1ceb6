import { encodePiece } from "../text/bytes.ts";

/**
 * The words of one file, as hashes without duplicates. Two words in a billion collide: then a stale reference is
 * missed.
 */
export interface Tokens {
  /** Identifiers, `kebab-case` words, `--flags` and routes. The first `declared` of them come first. */
  words: Uint32Array;
  /**
   * How many of the words the file seems to define: declarations, keys, parameters, whole strings, and all flags and
   * routes.
   */
  declared: number;
}

const seed = 0x811c9dc5;
const prime = 0x01000193;

export function hashWord(word: string): number {
  const bytes = encodePiece(word);
  let hash = seed;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes.charCodeAt(i), prime);
  return plainHash(hash);
}

/** Tables use 0 for an empty slot. */
function plainHash(hash: number): number {
  return hash >>> 0 || 1;
}

// Letters, digits, `_`, `$` and non-ASCII bytes.
const isWord = new Uint8Array(256);
for (let c = 0; c < 256; c++) isWord[c] = c > 127 || /[\w$]/.test(String.fromCharCode(c)) ? 1 : 0;
const isRoute = new Uint8Array(256);
for (let c = 0; c < 256; c++) isRoute[c] = /[\w{}<>:[\]$.*~/-]/.test(String.fromCharCode(c)) ? 1 : 0;

// What a word says about the word after it.
const nothing = 0;
const declares = 1;
const excludes = 2;
const isType = 3;
type Role = typeof nothing | typeof declares | typeof excludes | typeof isType;

const declaring = `def class function const let var func fn type interface enum struct trait union module namespace macro_rules val object record
  protocol extension mixin static public private protected internal readonly final abstract override async get set export void int
  long float double bool boolean string String char byte auto define alias property field attr_accessor attr_reader`;
const notTypes = `return new await yield throw raise else not and or in is import from as case do delete typeof instanceof if elif while for until
  unless with assert del puts print echo default break continue go defer extends implements except`;
const keywordSlots = 1 << 12;
const keywordHashes = new Uint32Array(keywordSlots);
const keywordRoles = new Uint8Array(keywordSlots);
for (const [words, role] of [
  [declaring, declares],
  [notTypes, excludes],
] as const) {
  for (const word of words.split(/\s+/)) {
    const hash = hashWord(word);
    let slot = hash & (keywordSlots - 1);
    while (keywordRoles[slot] !== nothing && keywordHashes[slot] !== hash) slot = (slot + 1) & (keywordSlots - 1);
    keywordHashes[slot] = hash;
    keywordRoles[slot] = role;
  }
}

function roleOf(hash: number): Role {
  let slot = hash & (keywordSlots - 1);
  while (keywordRoles[slot] !== nothing) {
    if (keywordHashes[slot] === hash) return keywordRoles[slot] as Role;
    slot = (slot + 1) & (keywordSlots - 1);
  }
  return isType;
}

const isQuote = new Uint8Array(256);
for (const c of [34, 39, 96]) isQuote[c] = 1;
const wordMax = 80;
const routeMax = 200;

/** A route with normalized parameters: `/v2/jobs/:id` and `/v2/jobs/{job}` are equal. */
export function plainRoute(route: string): string {
  const segments = route.split("/").filter((segment) => segment !== "");
  return segments.map((segment) => `/${/[{}:<>[\]$*]/.test(segment) ? "{}" : segment}`).join("");
}

export type TokenReader = (bytes: Uint8Array) => Tokens;

/** Reads the words of one file at a time, in one pass over its bytes. */
export function createTokenReader(): TokenReader {
  // The words of the current file, and a hash table of their numbers. A slot of an earlier round is empty.
  let words = new Uint32Array(1 << 13);
  let isDefined = new Uint8Array(1 << 13);
  let count = 0;
  let slots = 1 << 14;
  let numbers = new Uint32Array(slots);
  let rounds = new Uint32Array(slots);
  let round = 0;

  /** The number of a word in this file. */
  function numberOf(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & (slots - 1);
    while (rounds[slot] === round) {
      const number = numbers[slot] as number;
      if (words[number] === hash) return number;
      slot = (slot + 1) & (slots - 1);
    }
    numbers[slot] = count;
    rounds[slot] = round;
    words[count] = hash;
    isDefined[count] = 0;
    count++;
    if (count === words.length) grow();
    return count - 1;
  }

  function grow(): void {
    words = doubled(words);
    isDefined = Uint8Array.from({ length: words.length }, (_, number) => isDefined[number] ?? 0);
    slots *= 2;
    numbers = new Uint32Array(slots);
    rounds = new Uint32Array(slots);
    round = 1;
    for (let number = 0; number < count; number++) {
      const hash = words[number] as number;
      let slot = (hash ^ (hash >>> 15)) & (slots - 1);
      while (rounds[slot] === round) slot = (slot + 1) & (slots - 1);
      numbers[slot] = number;
      rounds[slot] = round;
    }
  }

  return (bytes) => {
    round++;
    count = 0;
    const end = bytes.length;
    // What the previous word says, if only spaces are in between; and whether only white space precedes on the line.
    let before: Role = nothing;
    let isFirst = true;
    let i = 0;
    while (i < end) {
      let c = bytes[i] as number;
      if (isWord[c] === 0) {
        i++;
        if (c === 32) continue;
        if (c === 10) {
          isFirst = true;
          before = nothing;
        } else if (c !== 9) {
          if (c === 47 && i < end) readRoute(bytes, i - 1, end);
          isFirst = false;
          // Skips `*` and `&` in declarations such as `*name` and `&name`.
          if (c !== 42 && c !== 38) before = nothing;
        }
        continue;
      }
      const start = i;
      const first = c;
      let hash = seed;
      do {
        hash = Math.imul(hash ^ c, prime);
        if (++i === end) break;
        c = bytes[i] as number;
      } while (isWord[c] === 1);
      hash = plainHash(hash);
      if (i - start <= wordMax && (first < 48 || first > 57)) {
        const number = numberOf(hash);
        const last = start > 0 ? (bytes[start - 1] as number) : 10;
        if (isDefined[number] === 0 && isDeclared(bytes, start, i, end, before, isFirst, last)) isDefined[number] = 1;
        if (last === 45 || c === 45) {
          const isJoined = last === 45 && start > 1 && isWord[bytes[start - 2] as number] === 1;
          const isLong = i + 1 < end && c === 45 && isWord[bytes[i + 1] as number] === 1;
          const isFlag = last === 45 && start > 1 && bytes[start - 2] === 45;
          if (isFlag || (isLong && !isJoined)) readLong(bytes, start, end, isFlag);
        }
      }
      before = roleOf(hash);
      isFirst = false;
    }
    return definedFirst();
  };

  function definedFirst(): Tokens {
    const sorted = new Uint32Array(count);
    let declared = 0;
    let others = count;
    for (let number = 0; number < count; number++)
      sorted[isDefined[number] === 1 ? declared++ : --others] = words[number] as number;
    return { words: sorted, declared };
  }

  /** `kebab-case`, or `--kebab-case` after two dashes. */
  function readLong(bytes: Uint8Array, start: number, end: number, isFlag: boolean): void {
    let plain = seed;
    let flag = Math.imul(Math.imul(seed ^ 45, prime) ^ 45, prime);
    let at = start;
    for (; at < end && at - start <= wordMax; at++) {
      const c = bytes[at] as number;
      if (isWord[c] !== 1 && (c !== 45 || at + 1 >= end || isWord[bytes[at + 1] as number] !== 1)) break;
      plain = Math.imul(plain ^ c, prime);
      flag = Math.imul(flag ^ c, prime);
    }
    if (at - start > wordMax) return;
    const number = numberOf(plainHash(plain));
    const next = bytes[at] ?? 0;
    if (isFlag || next === 58 || (isQuote[next] === 1 && bytes[start - 1] === next)) isDefined[number] = 1;
    if (isFlag) isDefined[numberOf(plainHash(flag))] = 1;
  }

  function readRoute(bytes: Uint8Array, start: number, end: number): void {
    const last = start > 0 ? (bytes[start - 1] as number) : 10;
    const next = bytes[start + 1] as number;
    // Not a file path, a comment, a closing tag or a division.
    if (isWord[last] === 1 || last === 46 || last === 47 || last === 60 || last === 42 || last === 41 || last === 93)
      return;
    if (isRoute[next] !== 1 || next === 47 || next === 42) return;
    let at = start;
    while (at < end && at - start <= routeMax && isRoute[bytes[at] as number] === 1) at++;
    if (at - start > routeMax) return;
    // In YAML a route is a key: the trailing colon is not part of it.
    if (bytes[at - 1] === 58) at--;
    let route = "";
    for (let j = start; j < at; j++) route += String.fromCharCode(bytes[j] as number);
    isDefined[numberOf(hashWord(plainRoute(route)))] = 1;
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** Whether a program, a schema or a configuration seems to define the word here. False positives are acceptable. */
function isDeclared(
  bytes: Uint8Array,
  start: number,
  wordEnd: number,
  end: number,
  before: Role,
  isFirst: boolean,
  last: number,
): boolean {
  if (before === declares) return true;
  if (isConstant(bytes, start, wordEnd)) return true;
  let at = wordEnd;
  if (isQuote[last] === 1 && bytes[wordEnd] === last) {
    if (isDistinct(bytes, start, wordEnd)) return true;
    // A plain quoted word is a value, but before a colon it is a key.
    at++;
  }
  // `:name` in Ruby.
  if (last === 58 && start > 1 && (bytes[start - 2] === 32 || bytes[start - 2] === 40)) return true;
  while (at < end && (bytes[at] === 32 || bytes[at] === 9)) at++;
  const next = bytes[at];
  const after = bytes[at + 1];
  if (next === 58) return after !== 58 && after !== 61 && last !== 58;
  if (next === 63) return after === 58;
  if (next === 61) return after !== 61 && after !== 62 && (at > wordEnd || isFirst) && last !== 46;
  const followsType = before === isType;
  if (next === 59) return followsType;
  // A member of an enumeration or a struct, alone on its line.
  if (next === 44) return isFirst && (bytes[at + 1] === 10 || bytes[at + 1] === 13);
  if (next !== 40) return isFirst && at > wordEnd && next !== undefined && isWord[next] === 1 && isField(bytes, start);
  if (followsType) return true;
  // A Go method follows its receiver.
  if (last === 32 && bytes[start - 2] === 41) return true;
  return isFirst && opensBody(bytes, at, end);
}

/** `snake_case` or `camelCase`. */
function isDistinct(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    const c = bytes[at] as number;
    if (c === 95 || (c > 64 && c < 91)) return true;
  }
  return false;
}

/** `LIKE_THIS`: an environment variable, wherever it occurs. */
function isConstant(bytes: Uint8Array, start: number, end: number): boolean {
  let joints = 0;
  for (let at = start; at < end; at++) {
    const c = bytes[at] as number;
    if (c === 95) joints++;
    else if ((c < 65 || c > 90) && (c < 48 || c > 57)) return false;
  }
  return joints > 0 && joints < end - start;
}

/** `Name string` in a Go struct: indented by a tab and capitalized. */
function isField(bytes: Uint8Array, start: number): boolean {
  const c = bytes[start] as number;
  return c > 64 && c < 91 && bytes[start - 1] === 9;
}

/** `name(…) {`: the line ends with an opening brace after a closing bracket. */
function opensBody(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from;
  let closed = false;
  for (; at < end && bytes[at] !== 10; at++) if (bytes[at] === 41) closed = true;
  while (at > from && (bytes[at - 1] as number) <= 32) at--;
  return closed && bytes[at - 1] === 123;
}
