/** A compiled pattern of a rule. It finds matches in any Unicode text. */
export interface Pattern {
  matchAll(text: string): RegExpExecArray[];
  test(text: string): boolean;
}

const beyondAscii = /[^\0-\x7f]/;
const posixClasses: Readonly<Record<string, string>> = {
  alpha: "a-zA-Z",
  digit: "0-9",
  alnum: "a-zA-Z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: "\\s",
  punct: "!-\\/:-@\\[-`\\{-~",
  word: "\\w",
};
const wordClass = "\\p{L}\\p{M}\\p{N}\\p{Pc}";
const notWord = `[^${wordClass}]`;
const boundary = `(?:(?<=[${wordClass}])(?![${wordClass}])|(?<![${wordClass}])(?=[${wordClass}]))`;
const inside = `(?:(?<=[${wordClass}])(?=[${wordClass}])|(?<![${wordClass}])(?![${wordClass}]))`;
const syntaxCharacter = /[\^$\\.*+?()[\]{}|/]/;

/**
 * Compiles a Vale pattern (.NET syntax, in Go) to a JavaScript regular expression. Throws with the reason if JavaScript
 * has no equivalent. As in Vale, `\b` and `\w` support all Unicode letters.
 */
export function compilePattern(source: string, { ignoreCase = false, isMultiline = true } = {}): Pattern {
  let flags = isMultiline ? "gum" : "gu";
  let rest = source;
  let folds = ignoreCase;
  for (let found = leadingFlags.exec(rest); found !== null; found = leadingFlags.exec(rest)) {
    const [on = "", off = ""] = (found[1] as string).split("-");
    if (on.includes("i")) folds = true;
    if (off.includes("i")) folds = false;
    if (on.includes("s") && !flags.includes("s")) flags += "s";
    if (on.includes("m") && !flags.includes("m")) flags += "m";
    rest = rest.slice(found[0].length);
  }
  if (folds) flags += "i";
  const plain = new RegExp(convert(rest, false), flags);
  const wide = new RegExp(convert(rest, true), flags);
  const of = (text: string): RegExp => (beyondAscii.test(text) ? wide : plain);
  return {
    matchAll: (text) => [...text.matchAll(of(text))],
    test: (text) => text.search(of(text)) !== -1,
  };
}

const leadingFlags = /^\(\?([imsx]*(?:-[imsx]+)?)\)/;

function convert(source: string, isWide: boolean): string {
  let out = "";
  let inClass = false;
  for (let i = 0; i < source.length; i++) {
    const c = source.charAt(i);
    if (c === "\\") {
      out += convertEscape(source, i, inClass, isWide);
      i += escapeLength(source, i) - 1;
    } else if (inClass) {
      const posix = c === "[" ? /^\[:(\w+):\]/.exec(source.slice(i, i + 12)) : null;
      if (posix !== null) {
        out += posixClasses[posix[1] as string] ?? fail(`the class [:${posix[1]}:]`);
        i += posix[0].length - 1;
      } else if (c === "]") {
        inClass = false;
        out += c;
      } else out += c === "[" ? "\\[" : c;
    } else if (c === "[") {
      inClass = true;
      out += c;
      if (source.charAt(i + 1) === "^") out += source.charAt(++i);
      // A bracket in first position is literal.
      if (source.charAt(i + 1) === "]") {
        out += "\\]";
        i++;
      }
    } else if (c === "(" && source.charAt(i + 1) === "?") {
      if (source.startsWith("(?P<", i)) {
        out += "(?<";
        i += 3;
      } else if (source.startsWith("(?#", i)) {
        i = source.indexOf(")", i);
        if (i === -1) fail("an open comment");
      } else if (/^\(\?(?:[:=!]|<[=!]|<[A-Za-z]\w*>)/.test(source.slice(i, i + 80))) out += c;
      else fail(`"${source.slice(i, i + 4)}" within a pattern`);
    } else if (c === "{" && !/^\{\d+(?:,\d*)?\}/.test(source.slice(i, i + 12))) out += "\\{";
    else if (c === "{") {
      const end = source.indexOf("}", i);
      out += source.slice(i, end + 1);
      i = end;
    } else if (c === "}" || c === "]") out += `\\${c}`;
    else out += c;
  }
  return out;
}

function escapeLength(source: string, at: number): number {
  const found = /^\\(?:[pP]\{[^}]*\}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|k<\w+>|c[A-Za-z]|[\s\S])/.exec(
    source.slice(at, at + 40),
  );
  return found?.[0].length ?? 1;
}

function convertEscape(source: string, at: number, inClass: boolean, isWide: boolean): string {
  const whole = source.slice(at, at + escapeLength(source, at));
  const c = whole.charAt(1);
  if (whole === "\\") return fail("a backslash at its end");
  if (c === "b" && !inClass) return isWide ? boundary : "\\b";
  if (c === "B" && !inClass) return isWide ? inside : "\\B";
  if (c === "w" && isWide) return inClass ? wordClass : `[${wordClass}]`;
  if (c === "W" && isWide && !inClass) return notWord;
  if (c === "A") return "(?<![\\s\\S])";
  if (c === "z" || c === "Z") return "(?![\\s\\S])";
  if (c === "a") return "\\x07";
  if (c === "e") return "\\x1b";
  if (/[dDsSwWbBnrtfv0-9pPxukc]/.test(c)) return whole;
  if (syntaxCharacter.test(c) || (inClass && c === "-")) return whole;
  if (/[A-Za-z]/.test(c)) return fail(`"${whole}"`);
  return c;
}

function fail(what: string): never {
  throw new Error(`the pattern has ${what}, which is not supported`);
}
