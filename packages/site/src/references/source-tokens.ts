import { encodePiece } from "../text/bytes.ts";
import { isExport, isField, isTag, opensBody } from "./definitions.ts";

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

// The words of files lie in blocks that double in size: an array for each file would be slow to allocate.
const storeMin = 1 << 12;
const storeMax = 1 << 18;
const seed = 0x811c9dc5;
const prime = 0x01000193;

export function hashWord(word: string): number {
  let hash = seed;
  for (let i = 0; i < word.length; i++) {
    const c = word.charCodeAt(i);
    // Rare, and the check of every word would take longer than its hash.
    if (c > 127) return hashBytes(encodePiece(word));
    hash = Math.imul(hash ^ c, prime);
  }
  // Tables use 0 for an empty slot.
  return hash >>> 0 || 1;
}

function hashBytes(bytes: string): number {
  let hash = seed;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes.charCodeAt(i), prime);
  return hash >>> 0 || 1;
}

// Letters, digits, `_`, `$` and non-ASCII bytes. Each kind is a bit, so that a word tells which kinds it has.
const upper = 2;
const digit = 4;
const underscore = 8;
const wordKind = new Uint8Array(256);
for (let c = 0; c < 256; c++) {
  const character = String.fromCharCode(c);
  if (/[A-Z]/.test(character)) wordKind[c] = upper;
  else if (/\d/.test(character)) wordKind[c] = digit;
  else if (c === 95) wordKind[c] = underscore;
  else if (c > 127 || /[a-z$]/.test(character)) wordKind[c] = 1;
}
const isRoute = new Uint8Array(256);
for (let c = 0; c < 256; c++) isRoute[c] = /[\w{}<>:[\]$.*~/-]/.test(String.fromCharCode(c)) ? 1 : 0;

const isParameter = new Uint8Array(256);
for (const c of Buffer.from("{}:<>[]$*")) isParameter[c] = 1;

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
const keywordHashes = new Int32Array(keywordSlots);
const keywordRoles = new Uint8Array(keywordSlots);
for (const [words, role] of [
  [declaring, declares],
  [notTypes, excludes],
] as const) {
  for (const word of words.split(/\s+/)) {
    const hash = hashWord(word) | 0;
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
// White space, and the characters after a name that is defined: `:`, `?`, `=`, `;`, `,` and `(`.
const mayDefine = new Uint8Array(256);
for (const c of [9, 32, 58, 63, 61, 59, 44, 40]) mayDefine[c] = 1;
const wordMax = 80;
const routeMax = 200;

/** A route with normalized parameters: `/v2/jobs/:id` and `/v2/jobs/{job}` are equal. */
export function plainRoute(route: string): string {
  const segments = route.split("/").filter((segment) => segment !== "");
  return segments.map((segment) => `/${/[{}:<>[\]$*]/.test(segment) ? "{}" : segment}`).join("");
}

/** The hash of the route's plain form. Most routes are plain already. */
function hashRoute(bytes: Uint8Array, start: number, end: number): number {
  let hash = seed;
  let last = 0;
  for (let at = start; at < end; at++) {
    const c = bytes[at] as number;
    if (isParameter[c] === 1 || (c === 47 && (last === 47 || at + 1 === end)))
      return (
        hashWord(plainRoute(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1"))) | 0
      );
    hash = Math.imul(hash ^ c, prime);
    last = c;
  }
  return hash || 1;
}

export type TokenReader = (bytes: Uint8Array) => Tokens;

/** Reads the words of one file at a time, in one pass over its bytes. */
export function createTokenReader(): TokenReader {
  // A hash table of the file's words. Two numbers a slot: the word, and twice the file's number, plus one if the file
  // defines the word. What an earlier file left is empty. The size follows the file's, so that it stays in the processor's cache.
  let table = new Int32Array(1 << 12);
  let mask = 0;
  let mark = 0;
  // The slots in use.
  let used = new Uint32Array(1 << 11);
  let count = 0;
  let store = new Uint32Array(storeMin);
  let stored = 0;

  /** The slot of a word in this file. */
  function slotOf(hash: number): number {
    let slot = ((hash ^ (hash >>> 15)) & mask) << 1;
    for (;;) {
      if (((table[slot + 1] as number) | 1) !== (mark | 1)) break;
      if (table[slot] === hash) return slot;
      slot = (slot + 2) & (mask << 1);
    }
    if (count * 2 > mask) {
      grow();
      return slotOf(hash);
    }
    table[slot] = hash;
    table[slot + 1] = mark;
    used[count++] = slot;
    return slot;
  }

  function begin(bytes: number): void {
    let slots = 512;
    while (slots * 4 < bytes) slots *= 2;
    if (slots * 2 > table.length) {
      table = new Int32Array(slots * 2);
      used = new Uint32Array(slots);
    }
    mask = slots - 1;
    mark = (mark + 2) & 0x7ffffffe;
    count = 0;
  }

  function grow(): void {
    const words = Array.from(used.subarray(0, count), (slot) => [table[slot], table[slot + 1]] as [number, number]);
    begin((mask + 1) * 8);
    for (const [hash, wordMark] of words)
      if ((wordMark & 1) === 1) define(slotOf(hash));
      else slotOf(hash);
  }

  function define(slot: number): void {
    table[slot + 1] = mark | 1;
  }

  return (bytes) => {
    const end = bytes.length;
    begin(end);
    // The previous word, if only spaces are in between, or 0; and whether only white space precedes on the line.
    let before = 0;
    let isFirst = true;
    let i = 0;
    while (i < end) {
      let c = bytes[i] as number;
      let kind = wordKind[c] as number;
      if (kind === 0) {
        i++;
        if (c === 32) continue;
        if (c === 10) {
          isFirst = true;
          before = 0;
        } else if (c !== 9) {
          if (c === 47 && i < end) readRoute(bytes, i - 1, end);
          isFirst = false;
          // Skips `*` and `&` in declarations such as `*name` and `&name`.
          if (c !== 42 && c !== 38) before = 0;
        }
        continue;
      }
      const start = i;
      const first = kind;
      // The kinds of the characters after the first.
      let kinds = 0;
      let hash = Math.imul(seed ^ c, prime);
      for (i++; i < end; i++) {
        c = bytes[i] as number;
        kind = wordKind[c] as number;
        if (kind === 0) break;
        kinds |= kind;
        hash = Math.imul(hash ^ c, prime);
      }
      if (hash === 0) hash = 1;
      if (first !== digit && i - start <= wordMax) {
        const slot = slotOf(hash);
        const last = start > 0 ? (bytes[start - 1] as number) : 10;
        if (
          table[slot + 1] === mark &&
          (isConstant(first | kinds) ||
            (before !== 0 && roleOf(before) === declares) ||
            ((mayDefine[c] === 1 || last === 58 || (isQuote[last] === 1 && last === c)) &&
              isDeclared(bytes, start, i, end, before, isFirst, last, (kinds & (upper | underscore)) !== 0)))
        )
          define(slot);
        if (last === 45 || c === 45) {
          const isJoined = last === 45 && start > 1 && wordKind[bytes[start - 2] as number] !== 0;
          const isLong = i + 1 < end && c === 45 && wordKind[bytes[i + 1] as number] !== 0;
          const isFlag = last === 45 && start > 1 && bytes[start - 2] === 45;
          if (isFlag || (isLong && !isJoined)) readLong(bytes, start, end, isFlag);
        }
      }
      before = hash;
      isFirst = false;
    }
    return definedFirst();
  };

  function definedFirst(): Tokens {
    if (stored + count > store.length) {
      store = new Uint32Array(Math.max(count, Math.min(store.length * 2, storeMax)));
      stored = 0;
    }
    const words = store.subarray(stored, stored + count);
    stored += count;
    let declared = 0;
    let others = count;
    for (let number = 0; number < count; number++) {
      const slot = used[number] as number;
      words[table[slot + 1] === mark ? --others : declared++] = table[slot] as number;
    }
    return { words, declared };
  }

  /** `kebab-case`, or `--kebab-case` after two dashes. */
  function readLong(bytes: Uint8Array, start: number, end: number, isFlag: boolean): void {
    let plain = seed;
    let flag = Math.imul(Math.imul(seed ^ 45, prime) ^ 45, prime);
    let at = start;
    for (; at < end && at - start <= wordMax; at++) {
      const c = bytes[at] as number;
      if (wordKind[c] === 0 && (c !== 45 || at + 1 >= end || wordKind[bytes[at + 1] as number] === 0)) break;
      plain = Math.imul(plain ^ c, prime);
      flag = Math.imul(flag ^ c, prime);
    }
    if (at - start > wordMax) return;
    const slot = slotOf(plain || 1);
    const next = bytes[at] ?? 0;
    if (isFlag || next === 58 || (isQuote[next] === 1 && bytes[start - 1] === next) || isTag(bytes, start, at))
      define(slot);
    if (isFlag) define(slotOf(flag || 1));
  }

  function readRoute(bytes: Uint8Array, start: number, end: number): void {
    const last = start > 0 ? (bytes[start - 1] as number) : 10;
    const next = bytes[start + 1] as number;
    // Not a file path, a comment, a closing tag or a division.
    if (wordKind[last] !== 0 || last === 46 || last === 47 || last === 60 || last === 42 || last === 41 || last === 93)
      return;
    if (isRoute[next] !== 1 || next === 47 || next === 42) return;
    let at = start;
    while (at < end && at - start <= routeMax && isRoute[bytes[at] as number] === 1) at++;
    if (at - start > routeMax) return;
    // In YAML a route is a key: the trailing colon is not part of it.
    if (bytes[at - 1] === 58) at--;
    define(slotOf(hashRoute(bytes, start, at)));
  }
}

/** Whether a program, a schema or a configuration seems to define the word here. False positives are acceptable. */
function isDeclared(
  bytes: Uint8Array,
  start: number,
  wordEnd: number,
  end: number,
  before: number,
  isFirst: boolean,
  last: number,
  /** `snake_case` or `camelCase`. */
  isDistinct: boolean,
): boolean {
  let at = wordEnd;
  if (isQuote[last] === 1 && bytes[wordEnd] === last) {
    if (isDistinct) return true;
    // A plain quoted word is a value, but before a colon it is a key.
    at++;
  }
  if (isTag(bytes, start, wordEnd)) return true;
  // `:name` in Ruby.
  if (last === 58 && start > 1 && (bytes[start - 2] === 32 || bytes[start - 2] === 40)) return true;
  while (at < end && (bytes[at] === 32 || bytes[at] === 9)) at++;
  const next = bytes[at];
  const after = bytes[at + 1];
  if (next === 58) return after !== 58 && after !== 61 && last !== 58;
  if (next === 63) return after === 58;
  if (next === 61)
    return after !== 61 && after !== 62 && (at > wordEnd || isFirst) && (last !== 46 || isExport(bytes, start - 1));
  const followsType = before !== 0 && roleOf(before) === isType;
  if (next === 59) return followsType;
  // A member of an enumeration or a struct, alone on its line.
  if (next === 44) return isFirst && (bytes[at + 1] === 10 || bytes[at + 1] === 13);
  if (next !== 40)
    return isFirst && at > wordEnd && next !== undefined && wordKind[next] !== 0 && isField(bytes, start);
  if (followsType) return true;
  // A Go method follows its receiver.
  if (last === 32 && bytes[start - 2] === 41) return true;
  return isFirst && opensBody(bytes, at, end);
}

/** `LIKE_THIS`: an environment variable, wherever it occurs. */
function isConstant(kinds: number): boolean {
  return kinds === (underscore | upper) || kinds === (underscore | upper | digit) || kinds === (underscore | digit);
}
