import { encodePiece } from "../text/bytes.ts";

/**
 * The words of one file, as hashes without duplicates. Two words in a billion collide: then a stale reference is
 * missed.
 */
export interface Tokens {
  /** Identifiers, `kebab-case` words, `--flags` and routes. */
  words: Uint32Array;
  /**
   * The words that the file seems to define: declarations, keys, parameters, whole strings, and all flags and routes.
   */
  declared: Uint32Array;
}

const seed = 0x811c9dc5;
const prime = 0x01000193;

export function hashWord(word: string): number {
  const bytes = encodePiece(word);
  let hash = seed;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes.charCodeAt(i), prime);
  return hash >>> 0;
}

// Letters, digits, `_`, `$` and non-ASCII bytes.
const isWord = new Uint8Array(256);
for (let c = 0; c < 256; c++) isWord[c] = c > 127 || /[\w$]/.test(String.fromCharCode(c)) ? 1 : 0;
const isRoute = new Uint8Array(256);
for (let c = 0; c < 256; c++) isRoute[c] = /[\w{}<>:[\]$.*~/-]/.test(String.fromCharCode(c)) ? 1 : 0;

const hashesOf = (words: string): ReadonlySet<number> => new Set(words.split(/\s+/).map(hashWord));
const declaring = hashesOf(
  `def class function const let var func fn type interface enum struct trait union module namespace macro_rules val object record
  protocol extension mixin static public private protected internal readonly final abstract override async get set export void int
  long float double bool boolean string String char byte auto define alias property field attr_accessor attr_reader`,
);
const notTypes = hashesOf(
  `return new await yield throw raise else not and or in is import from as case do delete typeof instanceof if elif while for until
  unless with assert del puts print echo default break continue go defer extends implements except`,
);

const quoteMarks = new Set([34, 39, 96]);
const wordMax = 80;
const routeMax = 200;

/** A route with normalized parameters: `/v2/jobs/:id` and `/v2/jobs/{job}` are equal. */
export function plainRoute(route: string): string {
  const segments = route.split("/").filter((segment) => segment !== "");
  return segments.map((segment) => `/${/[{}:<>[\]$*]/.test(segment) ? "{}" : segment}`).join("");
}

/** A set of hashes that is cleared in constant time, by incrementing a generation. */
function createSeen(): { clear(): void; add(hash: number): boolean } {
  let size = 1 << 14;
  let keys = new Uint32Array(size);
  let marks = new Uint32Array(size);
  let round = 0;
  let count = 0;
  function add(hash: number): boolean {
    let slot = (hash ^ (hash >>> 15)) & (size - 1);
    while (marks[slot] === round) {
      if (keys[slot] === hash) return false;
      slot = (slot + 1) & (size - 1);
    }
    keys[slot] = hash;
    marks[slot] = round;
    if (++count * 2 > size) grow();
    return true;
  }
  function grow(): void {
    const [oldKeys, oldMarks, oldRound] = [keys, marks, round];
    size *= 2;
    keys = new Uint32Array(size);
    marks = new Uint32Array(size);
    round = 1;
    count = 0;
    for (let i = 0; i < oldKeys.length; i++) if (oldMarks[i] === oldRound) add(oldKeys[i] as number);
  }
  return {
    add,
    clear() {
      round++;
      count = 0;
    },
  };
}

export type TokenReader = (bytes: Uint8Array) => Tokens;

/** Reads the words of one file at a time, in one pass over its bytes. */
export function createTokenReader(): TokenReader {
  const seenWords = createSeen();
  const seenDeclared = createSeen();
  let words = new Uint32Array(1024);
  let declared = new Uint32Array(256);
  let wordCount = 0;
  let declaredCount = 0;

  function addWord(hash: number): void {
    if (!seenWords.add(hash)) return;
    if (wordCount === words.length) words = doubled(words);
    words[wordCount++] = hash;
  }
  function addDeclared(hash: number): void {
    if (!seenDeclared.add(hash)) return;
    if (declaredCount === declared.length) declared = doubled(declared);
    declared[declaredCount++] = hash;
  }

  return (bytes) => {
    seenWords.clear();
    seenDeclared.clear();
    wordCount = 0;
    declaredCount = 0;
    const end = bytes.length;
    // The previous word, if only spaces are in between; and whether only white space precedes on the line.
    let before = 0;
    let isFirst = true;
    let i = 0;
    while (i < end) {
      const c = bytes[i] as number;
      if (isWord[c] !== 1) {
        if (c === 10) {
          isFirst = true;
          before = 0;
        } else if (c !== 32 && c !== 9) {
          if (c === 47 && i + 1 < end) readRoute(bytes, i, end);
          isFirst = false;
          // Skips `*` and `&` in declarations such as `*name` and `&name`.
          if (c !== 42 && c !== 38) before = 0;
        }
        i++;
        continue;
      }
      const start = i;
      let hash = seed;
      for (; i < end && isWord[bytes[i] as number] === 1; i++) hash = Math.imul(hash ^ (bytes[i] as number), prime);
      hash >>>= 0;
      const last = start > 0 ? (bytes[start - 1] as number) : 10;
      if (i - start <= wordMax && (c < 48 || c > 57)) {
        addWord(hash);
        if (isDeclared(bytes, start, i, end, before, isFirst, last)) addDeclared(hash);
        const isJoined = last === 45 && start > 1 && isWord[bytes[start - 2] as number] === 1;
        const isLong = bytes[i] === 45 && i + 1 < end && isWord[bytes[i + 1] as number] === 1;
        const isFlag = last === 45 && start > 1 && bytes[start - 2] === 45;
        if (isFlag || (isLong && !isJoined)) readLong(bytes, start, end, isFlag);
      }
      before = hash;
      isFirst = false;
    }
    return { words: words.slice(0, wordCount), declared: declared.slice(0, declaredCount) };
  };

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
    addWord(plain >>> 0);
    const next = bytes[at];
    if (isFlag || next === 58 || (quoteMarks.has(next ?? 0) && bytes[start - 1] === next)) addDeclared(plain >>> 0);
    if (!isFlag) return;
    addWord(flag >>> 0);
    addDeclared(flag >>> 0);
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
    const hash = hashWord(plainRoute(route));
    addWord(hash);
    addDeclared(hash);
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
  before: number,
  isFirst: boolean,
  last: number,
): boolean {
  if (before !== 0 && declaring.has(before)) return true;
  if (isConstant(bytes, start, wordEnd)) return true;
  let at = wordEnd;
  if (quoteMarks.has(last) && bytes[wordEnd] === last) {
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
  const followsType = before !== 0 && !notTypes.has(before);
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
