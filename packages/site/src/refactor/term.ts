interface TermMatch {
  index: number;
  length: number;
  /** The replacement. */
  text: string;
  /** Why it is not replaced, as text after "stays". */
  stays?: string;
  /** The replacement at the start of a sentence, if the old word's own capital hides whether it is there. */
  capitalized?: string;
}

/** A term to find in prose, and its replacement. */
export interface Term {
  matches(text: string): TermMatch[];
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function hasInnerCapital(word: string): boolean {
  return /.\p{Lu}/u.test(word);
}

/** `API` and `OAuth` match exactly; `widget` matches in any case. */
function wordPattern(word: string): string {
  if (hasInnerCapital(word)) return escapeExpression(word);
  return [...word]
    .map((char) => {
      const [lower, upper] = [char.toLowerCase(), char.toUpperCase()];
      return lower === upper || lower.length !== 1 || upper.length !== 1
        ? escapeExpression(char)
        : `[${lower}${upper}]`;
    })
    .join("");
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Gives the replacement the case of the match, if the match differs from the given term. */
function likeCase(match: string, from: string, to: string): string {
  if (match === from) return to;
  const letters = match.replace(/[^\p{L}]/gu, "");
  if (letters.length > 1 && letters === letters.toUpperCase() && from !== from.toUpperCase()) return to.toUpperCase();
  const words = match.split(/\s+/);
  const isTitle = words.length > 1 && words.every((word) => /^\p{Lu}/u.test(word));
  if (isTitle && !from.split(/\s+/).every((word) => /^\p{Lu}/u.test(word)))
    return to.split(" ").map(capitalize).join(" ");
  const isUpper = /^\p{Lu}/u.test(match);
  const wasUpper = /^\p{Lu}/u.test(from);
  // `iPhone` stays lower-case even at the start of a sentence.
  if (isUpper && !wasUpper) return hasInnerCapital(to.split(" ")[0] ?? "") ? to : capitalize(to);
  const isBrand = to.split(/\s+/).some(hasInnerCapital);
  if (!isUpper && wasUpper && !isBrand) return to.toLowerCase();
  return to;
}

/** `API token` has its capital anywhere; its replacement `access key` needs one only at the start of a sentence. */
function capitalized(from: string, to: string): string | undefined {
  const [first = "", ...others] = from.split(" ");
  const [next = ""] = to.split(" ");
  const isHidden = others.length > 0 && /^\p{Lu}/u.test(first) && hasInnerCapital(first);
  return isHidden && /^\p{Ll}+$/u.test(next) ? capitalize(to) : undefined;
}

function pluralOf(word: string): string {
  if (/[^aeiou]y$/i.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/i.test(word) ? `${word}es` : `${word}s`;
}

// Words with an irregular plural, the same plural, or none.
const irregular =
  /(?:^|[^\p{L}])(?:person|child|(?:\p{L}*wo)?man|foot|tooth|mouse|goose|ox|quiz|datum|criterion|phenomenon|(?:\p{L}*)(?:data|ware|information|matrix|vertex)|feedback|equipment|advice|help|staff|traffic|knowledge|(?:kni|li|wi)fe|(?:lea|hal|shel|sel|wol|thie|loa|cal)f|(?:her|ech|vet|potat|tomat)o|sheep|fish)$/iu;

/** `docs` is already a plural and `software` has none: neither gets an "s". */
function hasRegularPlural(term: string): boolean {
  return /(?:[\p{L}--s]|ss)$/v.test(term) && !irregular.test(term);
}

function isPlural(term: string): boolean {
  return /[^\P{Ll}siu]s$/u.test(term);
}

interface Form {
  from: string;
  /** Null if the plural cannot be formed. */
  to: string | null;
}

const tokenReach = 200;
const tokenEdge = /[\s"'`()[\]<>{},;]/;

/** The token around a match, up to white space or punctuation that names do not contain. */
function tokenAround(text: string, index: number, length: number): string {
  let start = index;
  let end = index + length;
  while (start > 0 && index - start < tokenReach && !tokenEdge.test(text.charAt(start - 1))) start--;
  while (end < text.length && end - index < tokenReach && !tokenEdge.test(text.charAt(end))) end++;
  return text.slice(start, end).replace(/[.:!?]+$/, "");
}

const joinedBefore = /(?:[\p{L}\p{N}]_+|(?<![.])\.|(?<!\p{L}-)-|@|::|\$)$/u;
const joinedAfter = /^(?:_+[\p{L}\p{N}]|\.[\p{L}\p{N}_*]|-(?!-)|@|::\p{L}|\(\))/u;
// `::: name`, `!!! name`, `/// name`, `[!NAME]`, `:name[…]`, `{name}` before a backtick, `{{ … }}` and `{% … %}`.
const directiveBefore = /^[\t >]*(?::{2,}|!!!\+?|\?{3}\+?|\/{3,})[\t ]*\{?[\w.:-]*$|\[!$|\{[{%][^}]*$/;
const directiveAround = /^(?::\0[[{]|\{\0\}(?:`|$))/;

/** The non-prose construct that contains a match. */
function partOf(text: string, index: number, length: number, keepsPaths: boolean): string | undefined {
  const before = text.slice(Math.max(0, index - tokenReach), index);
  const after = text.slice(index + length, index + length + tokenReach);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const token = tokenAround(text, index, length);
  if (token.includes("://")) return "in a name";
  // Routes and files (`/messages/{id}`, `docs/message`). `message/note` is ambiguous, so it counts as one.
  if (keepsPaths && token.includes("/") && !/^\/{3,}/.test(token)) return "in a path";
  if (keepsPaths && /\/\{[^\s{}]*$/.test(before) && /^[^\s{}]*\}/.test(after)) return "in a path";
  if (directiveBefore.test(line) || directiveAround.test(`${before.slice(-1)}\0${after.slice(0, 2)}`))
    return "in a directive";
  return joinedBefore.test(before) || joinedAfter.test(after) || isHalfUnderscored(before, after)
    ? "in a name"
    : undefined;
}

/** `_token` is a name. In `_token and key_` and `_token_`, the underscores are emphasis. */
function isHalfUnderscored(before: string, after: string): boolean {
  const opens = /(?<![\p{L}\p{N}_])_+$/u;
  const closes = /^_+(?![\p{L}\p{N}_])/u;
  if (opens.test(before)) return !/[^\s_]_+(?![\p{L}\p{N}_])/u.test(`x${after}`);
  return closes.test(after) && !/(?<![\p{L}\p{N}_])_+[^\s_]/u.test(`${before}x`);
}

export function createTerm(input: { from: string; to: string; wordForms: boolean; isLiteral: boolean }): Term {
  const forms: Form[] = [{ from: input.from, to: input.to }];
  if (input.wordForms && hasRegularPlural(input.from)) {
    forms.push({ from: pluralOf(input.from), to: hasRegularPlural(input.to) ? pluralOf(input.to) : null });
  }
  // A capitalized plural such as "Guides" is a name: it is replaced only in that exact form.
  const isExact = input.wordForms && /^\p{Lu}/u.test(input.from) && isPlural(input.from) && !isPlural(input.to);
  const byLength = forms.toSorted((a, b) => b.from.length - a.from.length);
  const source = byLength
    .map(
      ({ from }) => `(${from.split(/\s+/).map(wordPattern).join("[ \\t]*(?:\\r?\\n[ \\t]*|[ \\t]|\\u00a0)[ \\t]*")})`,
    )
    .join("|");
  // In code an underscore is a letter; in prose it may be emphasis.
  const wordChar = input.isLiteral ? "[\\p{L}\\p{N}_]" : "[\\p{L}\\p{N}]";
  const before = /^[\p{L}\p{N}]/u.test(input.from) ? `(?<!${wordChar})` : "";
  const following = /[\p{L}\p{N}]$/u.test(input.from) ? `(?!${wordChar})` : "";
  const expression = new RegExp(`${before}(?:${source})${following}`, "gu");
  // A term with a slash is meant to match in paths.
  const keepsPaths = !input.from.includes("/");
  const already = input.to.toLowerCase().includes(input.from.toLowerCase()) ? input.to.toLowerCase() : null;

  function matches(text: string): TermMatch[] {
    const found: TermMatch[] = [];
    const lower = already === null ? "" : text.toLowerCase();
    for (const match of text.matchAll(expression)) {
      const [whole] = match;
      if (already !== null && isWithin(lower, already, match.index, whole.length)) continue;
      const form = byLength[match.slice(1).findIndex((group) => group !== undefined)] ?? forms[0];
      const words = whole.replace(/\s+/g, " ");
      const to = form?.to == null ? whole : likeCase(words, form.from, form.to);
      const part = input.isLiteral ? undefined : partOf(text, match.index, whole.length, keepsPaths);
      const stays =
        part ?? (form?.to === null ? "in the plural" : isExact && words !== input.from ? "in another case" : undefined);
      if (stays !== undefined) {
        found.push({ index: match.index, length: whole.length, text: whole, stays });
        continue;
      }
      if (to === whole) continue;
      // A line break inside the term is kept, if the new term has a space for it.
      const gap = /[ \t]*\r?\n[ \t]*/.exec(whole)?.[0];
      const fill = (words: string): string => (gap === undefined ? words : words.replace(" ", gap));
      const one: TermMatch = { index: match.index, length: whole.length, text: fill(to) };
      const capital = input.isLiteral || form === undefined ? undefined : capitalized(form.from, to);
      if (capital !== undefined) one.capitalized = fill(capital);
      found.push(one);
    }
    return found;
  }
  return { matches };
}

/** Whether the match is already part of the new term, so that the replacement is idempotent. */
function isWithin(text: string, term: string, index: number, length: number): boolean {
  const from = Math.max(0, index - term.length);
  // Not to the end of the text: with thousands of matches, that would take quadratic time.
  const around = text.slice(from, index + term.length);
  for (let at = around.indexOf(term); at !== -1 && from + at <= index; at = around.indexOf(term, at + 1)) {
    if (from + at + term.length >= index + length) return true;
  }
  return false;
}
