import type { Pattern } from "./pattern.ts";

const word = /[\p{N}\p{L}*]+[^\s]*/gu;
// Words that the Associated Press and the Chicago Manual of Style keep in lower case within a title.
const smallAp = "a an and as at but by en for if in nor of on or per the to v v. via vs vs.".split(" ");
const smallChicago = [
  ...smallAp,
  ..."about above across after against along among around before behind below beneath beside besides between beyond down during except from inside into like near off onto out outside over past since through throughout toward under underneath until up upon with within without so yet than".split(
    " ",
  ),
];

export interface CaseRule {
  /** $title, $sentence, $lower, $upper. */
  match: string;
  isChicago: boolean;
  /** Words and phrases with a fixed spelling. */
  terms: readonly string[];
  exceptions: Pattern | null;
  /** Endings of a word after which the next word starts with a capital. */
  indicators: readonly string[];
  /** A prefix that a text may have before its first word. */
  prefix: Pattern | null;
  threshold: number;
}

/** The expected spelling of a text, and whether the text matches it. */
export function judgeCase(text: string, rule: CaseRule): { expected: string; isRight: boolean } {
  if (rule.match === "$lower" || rule.match === "$upper") {
    const expected = rule.match === "$lower" ? text.toLowerCase() : text.toUpperCase();
    return { expected, isRight: text === expected || rule.exceptions?.test(text) === true };
  }
  const expected = withTerms(rule.match === "$title" ? titleCase(text, rule) : sentenceCase(text, rule), rule.terms);
  const written = text.match(word) ?? [];
  const wanted = expected.match(word) ?? [];
  let right = 0;
  for (const [i, one] of written.entries()) {
    if (one === wanted[i] || wanted[i] === undefined || rule.exceptions?.test(one) === true) right++;
    else if (rule.match === "$title" && one === one.toUpperCase()) right++;
    else if (rule.match === "$sentence" && i === 0 && one !== capital(one.toLowerCase()))
      return { expected, isRight: false };
  }
  return { expected, isRight: written.length === 0 || right / written.length >= rule.threshold };
}

function titleCase(text: string, { isChicago }: CaseRule): string {
  const small = isChicago ? smallChicago : smallAp;
  const words = [...text.matchAll(/[\p{N}\p{L}]+[^\s\-/]*/gu)];
  let out = "";
  let at = 0;
  for (const [i, found] of words.entries()) {
    const before = text.slice(0, found.index).trimEnd().at(-1) ?? "";
    const isEdge = i === 0 || i === words.length - 1 || before === ":";
    const one = found[0];
    out +=
      text.slice(at, found.index) + (!isEdge && small.includes(one.toLowerCase()) ? one.toLowerCase() : capital(one));
    at = found.index + one.length;
  }
  return out + text.slice(at);
}

function sentenceCase(text: string, { indicators, prefix }: CaseRule): string {
  const skipped = prefix?.matchAll(text).find(({ index }) => index === 0)?.[0].length ?? 0;
  let previous: string | null = null;
  let isFirst = true;
  return (
    text.slice(0, skipped) +
    text.slice(skipped).replace(word, (one) => {
      const before = previous;
      const follows =
        before !== null && (indicators.some((end) => before.endsWith(end)) || (isFirst && /\d+\./.test(before)));
      const shown = before === null || follows ? capital(one.toLowerCase()) : one.toLowerCase();
      if (before !== null) isFirst = false;
      previous = one;
      return shown;
    })
  );
}

function withTerms(text: string, terms: readonly string[]): string {
  let out = text;
  for (const term of terms) {
    if (!/^[\p{L}\p{N} .'’()/_-]+$/u.test(term)) continue;
    const quoted = term.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    out = out.replace(new RegExp(`(?<![\\p{L}\\p{N}])${quoted}(?![\\p{L}\\p{N}])`, "giu"), term);
  }
  return out;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
