interface TermMatch {
  index: number;
  length: number;
  /** What to put in its place. */
  text: string;
  /** The text for the start of a sentence, where the old word's own capital hid whether it stood there. */
  capitalized?: string;
}

/** A term to look for in prose, and what to put in its place. */
export interface Term {
  matches(text: string): TermMatch[];
}

const wordChar = "[\\p{L}\\p{N}_]";

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function hasInnerCapital(word: string): boolean {
  return /.\p{Lu}/u.test(word);
}

/** `API` and `OAuth` match as they are; `widget` matches in any case. */
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

/** Gives the new text the case of the old one, where the old one differs from the term as it was named. */
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
  // `iPhone` begins no sentence with a capital either.
  if (isUpper && !wasUpper) return hasInnerCapital(to.split(" ")[0] ?? "") ? to : capitalize(to);
  const isBrand = to.split(/\s+/).some(hasInnerCapital);
  if (!isUpper && wasUpper && !isBrand) return to.toLowerCase();
  return to;
}

/** `API token` has its capital anywhere; `access key` in its place wants one where a sentence begins. */
function capitalized(form: Form, to: string): string | undefined {
  const [first = "", ...others] = form.from.split(" ");
  const [next = ""] = to.split(" ");
  const isHidden = others.length > 0 && /^\p{Lu}/u.test(first) && hasInnerCapital(first);
  return isHidden && /^\p{Ll}+$/u.test(next) ? capitalize(to) : undefined;
}

function pluralOf(word: string): string {
  if (/[^aeiou]y$/i.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/i.test(word) ? `${word}es` : `${word}s`;
}

interface Form {
  from: string;
  to: string;
}

// A term inside one of these is part of a name, not of a sentence.
const machineText =
  /^(?:https?:|www\.|mailto:)|:\/\/|[\w.+-]@[\w-]+\.|\/[\w.@-]*\.\w+$|^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|js|ts|tsx|jsx|json|ya?ml|mdx?|py|go|rs|sh|toml|html|css)$/i;
const tokenReach = 200;
const tokenEdge = /[\s"'`()[\]<>{},;]/;

/** The word around a match, up to white space or punctuation that no name holds. */
function tokenAround(text: string, index: number, length: number): string {
  let start = index;
  let end = index + length;
  while (start > 0 && index - start < tokenReach && !tokenEdge.test(text.charAt(start - 1))) start--;
  while (end < text.length && end - index < tokenReach && !tokenEdge.test(text.charAt(end))) end++;
  return text.slice(start, end).replace(/[.:!?]+$/, "");
}

/** Routes and files (`/messages/{id}`, `docs/message`); `message/note` may be either, so it counts as one. */
export function isInPath(text: string, { index, length }: { index: number; length: number }): boolean {
  return tokenAround(text, index, length).includes("/");
}

export function createTerm(input: { from: string; to: string; wordForms: boolean; isLiteral: boolean }): Term {
  const forms: Form[] = [{ from: input.from, to: input.to }];
  if (input.wordForms) forms.push({ from: pluralOf(input.from), to: pluralOf(input.to) });
  const byLength = forms.toSorted((a, b) => b.from.length - a.from.length);
  const source = byLength
    .map(
      ({ from }) => `(${from.split(/\s+/).map(wordPattern).join("[ \\t]*(?:\\r?\\n[ \\t]*|[ \\t]|\\u00a0)[ \\t]*")})`,
    )
    .join("|");
  const before = /^[\p{L}\p{N}_]/u.test(input.from) ? `(?<!${wordChar})` : "";
  const following = /[\p{L}\p{N}_]$/u.test(input.from) ? `(?!${wordChar})` : "";
  const expression = new RegExp(`${before}(?:${source})${following}`, "gu");
  const already = input.to.toLowerCase().includes(input.from.toLowerCase()) ? input.to.toLowerCase() : null;

  function matches(text: string): TermMatch[] {
    const found: TermMatch[] = [];
    for (const match of text.matchAll(expression)) {
      const [whole] = match;
      if (already !== null && isWithin(text.toLowerCase(), already, match.index, whole.length)) continue;
      if (!input.isLiteral && machineText.test(tokenAround(text, match.index, whole.length))) continue;
      const form = byLength[match.slice(1).findIndex((group) => group !== undefined)] ?? input;
      const to = likeCase(whole.replace(/\s+/g, " "), form.from, form.to);
      if (to === whole) continue;
      // A line break inside the term stays where it was, if the new term has a space to put it in.
      const gap = /[ \t]*\r?\n[ \t]*/.exec(whole)?.[0];
      const fill = (words: string): string => (gap === undefined ? words : words.replace(" ", gap));
      const one: TermMatch = { index: match.index, length: whole.length, text: fill(to) };
      const capital = input.isLiteral ? undefined : capitalized(form, to);
      if (capital !== undefined) one.capitalized = fill(capital);
      found.push(one);
    }
    return found;
  }
  return { matches };
}

/** Whether the match is part of the new term already: so that replacing twice changes nothing. */
function isWithin(text: string, term: string, index: number, length: number): boolean {
  const from = Math.max(0, index - term.length);
  for (let at = text.indexOf(term, from); at !== -1 && at <= index; at = text.indexOf(term, at + 1)) {
    if (at + term.length >= index + length) return true;
  }
  return false;
}
