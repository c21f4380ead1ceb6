import { compilePattern, type Pattern } from "./pattern.ts";

/** A position in the text where a rule applies. */
interface Alert {
  start: number;
  message: string;
}

/** The state of rules within one file: definitions, and the spellings in use. */
export type FileMemory = Set<string>;
export type Fields = Record<string, unknown>;
export type RunRule = (text: string, memory: FileMemory) => Alert[];

interface Ingredients {
  name: string;
  fields: Fields;
  message: string;
  exceptions: Pattern | null;
  terms: readonly string[];
}

/** One function for each value of `extends` in a rule. */
export const ruleKinds: Readonly<Record<string, (ingredients: Ingredients) => RunRule>> = {
  existence({ fields, message, exceptions }) {
    const tokens = strings(fields.tokens).filter((token) => token.trim() !== "");
    const raw = strings(fields.raw).join("");
    const listed = tokens.join("|");
    const isWord = fields.nonword !== true && tokens.length > 0;
    const own = isWord ? `\\b(?:${listed})\\b` : `(?:${listed})`;
    const isAppended = fields.append === true;
    const ignoreCase = fields.ignorecase === true;
    const pattern = compilePattern(isAppended ? own + raw : raw + own, {
      ignoreCase,
      isMultiline: raw === "" || isAppended,
    });
    return (text) =>
      pattern.matchAll(text).flatMap((found) => {
        if (found[0] === "" || exceptions?.test(found[0].trim()) === true) return [];
        return { start: found.index, message: format(message, found[0]) };
      });
  },

  substitution({ fields, message, exceptions }) {
    const ignoreCase = fields.ignorecase === true;
    const swap = Object.entries(recordOf(fields.swap, "swap")).sort(([a], [b]) => b.length - a.length);
    if (swap.length === 0) throw new Error("the rule has no `swap`");
    // Capturing groups in an entry would shift the group numbers that identify the entries.
    const listed = swap.map(([from]) => `(${from.replace(/(?<!\\)\((?!\?)/g, "(?:")})`).join("|");
    const pattern = compilePattern(fields.nonword === true ? `(?:${listed})` : `\\b(?:${listed})\\b`, { ignoreCase });
    const isReplaced =
      isRecord(fields.action) && fields.action.name === "replace" && fields.action.params === undefined;
    const capitalizes = fields.capitalize === true;
    return (text) =>
      pattern.matchAll(text).flatMap((found) => {
        const index = found.findIndex((group, i) => i > 0 && group !== undefined);
        const [from, to] = swap[index - 1] ?? [];
        if (from === undefined || to === undefined) return [];
        const observed = (found[index] as string).trim();
        const isCapital = observed === capital(observed);
        let expected = capitalizes && isCapital ? capital(to) : to;
        if (/\$\d/.test(expected)) expected = refer(from, observed, expected, ignoreCase);
        if (isSame(expected, observed) || exceptions?.test(observed) === true) return [];
        const start = found.index + found[0].indexOf(found[index] as string);
        if (!isReplaced) return { start, message: format(message, expected, observed) };
        const choices = expected.split("|").map((one) => `'${capitalizes && isCapital ? capital(one) : one}'`);
        const last = choices.length > 2 ? `or ${choices.at(-1)}` : (choices.at(-1) as string);
        const joined = choices.length === 2 ? choices.join(" or ") : [...choices.slice(0, -1), last].join(", ");
        return { start, message: format(unquoted(message), joined, observed) };
      });
  },

  occurrence({ fields, message }) {
    const pattern = compilePattern(textOf(fields.token, "token"), {
      ignoreCase: fields.ignorecase === true,
      isMultiline: false,
    });
    const max = numberOf(fields.max);
    const min = numberOf(fields.min);
    return (text) => {
      const found = pattern.matchAll(text);
      const count = found.length;
      if (!((max > 0 && count > max) || (min > 0 && count < min))) return [];
      const first = found.find(([match]) => match.trim() !== "" && !/^[*@]*$/.test(match));
      if (count > 0 && first === undefined) return [];
      return [{ start: first?.index ?? 0, message: format(message, String(count)) }];
    };
  },

  repetition({ fields, message, exceptions }) {
    const ignoreCase = fields.ignorecase === true;
    const pattern = compilePattern(`(${strings(fields.tokens).join("|")})`, { ignoreCase, isMultiline: false });
    const max = numberOf(fields.max);
    return (text) => {
      const alerts: Alert[] = [];
      let before = "";
      let beforeAt = 0;
      let count = 0;
      for (const found of pattern.matchAll(text)) {
        const current = found[0].trim();
        const isEqual = ignoreCase ? current.toLowerCase() === before.toLowerCase() : current === before;
        const isHit = isEqual && current !== "" && (fields.alpha !== true || /^\p{L}+$/u.test(current));
        if (isHit) count++;
        const both = text.slice(beforeAt, found.index + found[0].length);
        if (isHit && count > max && !both.includes("\n") && exceptions?.test(both) !== true) {
          alerts.push({ start: beforeAt, message: format(message, current) });
          count = 0;
        }
        before = current;
        beforeAt = found.index;
      }
      return alerts;
    };
  },

  consistency({ name, fields, message }) {
    const steps = Object.entries(recordOf(fields.either, "either")).map(([one, other], i) => {
      const both = `(${one.replace(/(?<!\\)\((?!\?)/g, "(?:")})|(${other.replace(/(?<!\\)\((?!\?)/g, "(?:")})`;
      const source = fields.nonword === true ? `(?:${both})` : `\\b(?:${both})\\b`;
      return {
        pattern: compilePattern(source, { ignoreCase: fields.ignorecase === true }),
        keys: [`${name} ${i} first`, `${name} ${i} second`] as const,
      };
    });
    return (text, memory) =>
      steps.flatMap(({ pattern, keys }) => {
        const found = pattern.matchAll(text);
        for (const match of found) memory.add(match[1] !== undefined ? keys[0] : keys[1]);
        const last = found.at(-1);
        if (last === undefined || !keys.every((key) => memory.has(key))) return [];
        return { start: last.index, message: format(message, last[0]) };
      });
  },

  conditional({ name, fields, message, exceptions }) {
    const ignoreCase = fields.ignorecase === true;
    const first = compilePattern(textOf(fields.first, "first"), { ignoreCase, isMultiline: false });
    const second = compilePattern(textOf(fields.second, "second"), { ignoreCase, isMultiline: false });
    return (text, memory) => {
      for (const [, ...groups] of second.matchAll(text))
        for (const group of groups) if (group) memory.add(`${name} ${group}`);
      return first.matchAll(text).flatMap((found) => {
        if (memory.has(`${name} ${found[0]}`) || exceptions?.test(found[0]) === true) return [];
        return { start: found.index, message: format(message, found[0]) };
      });
    };
  },

  capitalization({ fields, message, exceptions, terms }) {
    const match = textOf(fields.match, "match");
    if (!match.startsWith("$")) {
      const pattern = compilePattern(match, { isMultiline: false });
      return (text) => {
        const isRight = pattern.test(text) || exceptions?.test(text) === true;
        return isRight ? [] : [{ start: 0, message: format(message, text, match) }];
      };
    }
    if (!["$title", "$sentence", "$lower", "$upper"].includes(match)) throw new Error(`there is no case \`${match}\``);
    const rule: CaseRule = {
      match,
      isChicago: fields.style === "Chicago",
      terms,
      exceptions,
      indicators: strings(fields.indicators),
      prefix: typeof fields.prefix === "string" ? compilePattern(fields.prefix, { isMultiline: false }) : null,
      threshold: numberOf(fields.threshold) || 0.8,
    };
    return (text) => {
      const { expected, isRight } = judgeCase(text, rule);
      return isRight ? [] : [{ start: 0, message: format(message, text, expected) }];
    };
  },
};

/** Fills in `$1` and similar references from the groups of an entry's own pattern. */
function refer(from: string, observed: string, expected: string, ignoreCase: boolean): string {
  const groups = compilePattern(from, { ignoreCase, isMultiline: false }).matchAll(observed)[0];
  return expected.replace(/\$(\d)/g, (_, n: string) => groups?.[Number(n)] ?? "");
}

export const isPhrase = (text: string): boolean => /^[\p{L}\p{Nd} -]*$/u.test(text);

function isSame(expected: string, observed: string): boolean {
  if (isPhrase(expected)) return expected === observed;
  try {
    return compilePattern(`^(?:${expected})$`, { isMultiline: false }).test(observed);
  } catch {
    return expected === observed;
  }
}

/** The choices already have quotes, so a message with its own quotes loses the first pair. */
function unquoted(message: string): string {
  for (const quoted of ["'%s'", '"%s"']) if (message.split(quoted).length === 3) return message.replace(quoted, "%s");
  return message;
}

/** Go's `%s` and `%[1]s`. */
function format(message: string, ...values: readonly string[]): string {
  let next = 0;
  return message.replace(/%(?:\[(\d+)\])?([sdv%])/g, (_, index: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (index !== undefined) next = Number(index) - 1;
    // A match may span lines; the message is one line.
    return (values[next++] ?? "").replaceAll("\n", " ");
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function strings(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== "string" && typeof value !== "number") throw new Error(`the rule has no \`${name}\``);
  return String(value);
}

export function numberOf(value: unknown): number {
  return value === undefined || Number.isNaN(Number(value)) ? 0 : Number(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown, name: string): Record<string, string> {
  // A list of pairs has the same meaning.
  const entries = Array.isArray(value) ? value.flatMap((one) => (isRecord(one) ? Object.entries(one) : [])) : null;
  if (entries === null && !isRecord(value)) throw new Error(`the rule has no \`${name}\``);
  return Object.fromEntries((entries ?? Object.entries(value as Fields)).map(([key, one]) => [key, String(one ?? "")]));
}

const word = /[\p{N}\p{L}*]+[^\s]*/gu;
// Words that the Associated Press and the Chicago Manual of Style keep in lower case within a title.
const smallAp = "a an and as at but by en for if in nor of on or per the to v v. via vs vs.".split(" ");
const smallChicago = [
  ...smallAp,
  ..."about above across after against along among around before behind below beneath beside besides between beyond down during except from inside into like near off onto out outside over past since through throughout toward under underneath until up upon with within without so yet than".split(
    " ",
  ),
];

interface CaseRule {
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
function judgeCase(text: string, rule: CaseRule): { expected: string; isRight: boolean } {
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
