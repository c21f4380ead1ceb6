/** Something on a page that is true or false of the product, and that a text can witness. */
export interface Fact {
  kind: "name" | "value" | "address";
  /** As the page has it. */
  text: string;
  /** Of a number: its value. */
  number?: number;
  /** Of a number with a unit: the kind of unit. Numbers of one kind can be converted into each other. */
  unit?: "time" | "size" | "share";
}

const flag = /(?<![\w-])--[a-z][\w-]+/gi;
const variable = /(?<![\w$])[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9](?!\w)/g;
const address = /\bhttps?:\/\/[^\s<>"'`)\]}|]+/g;
/** One point may be a decimal's. */
const version = /(?<![\w.-])(?:v\d+(?:\.\d+)*|\d+(?:\.\d+){2,})(?:-[\w.]+)?(?![\w-])/g;
const number =
  /(?<![\w.$#/-])\d+(?:[,_]\d{3})*(?:\.\d+)?(?![\w.]*\w)(?:[ -]?(ms|s|sec|m|min|h|d|[KMGT]?i?B|%)(?!\w)|[ -]([A-Za-z]+))?/g;
const codeSpan = /(`+)(?!`)(.+?)(?<!`)\1(?!`)/g;

const units: Readonly<Record<string, Fact["unit"]>> = {
  ...byUnit("time", "ms s sec m min h d millisecond second minute hour day week month year"),
  ...byUnit("size", "b kb mb gb tb kib mib gib tib byte kilobyte megabyte gigabyte terabyte"),
  ...byUnit("share", "% percent"),
};

function byUnit(unit: NonNullable<Fact["unit"]>, names: string): Record<string, Fact["unit"]> {
  return Object.fromEntries(names.split(" ").map((name) => [name, unit]));
}

/** The facts of one line of prose. */
export function factsOfProse(line: string): readonly Fact[] {
  const facts: Fact[] = [];
  const take = (text: string, pattern: RegExp, read: (match: RegExpMatchArray) => Fact | null): string =>
    text.replaceAll(pattern, (...match) => {
      const fact = read(match as unknown as RegExpMatchArray);
      if (fact) facts.push(fact);
      return " ";
    });
  // What a link or an image points to is judged by the checks of the site; what it says is text.
  let rest = line
    .replace(/^\s*(?:\d+[.)]|[-*+]|#{1,6}|>)\s+/, "")
    .replaceAll(/\]\((?!https?:)[^)]*\)|\]\[[^\]]*\]|\{#[^}]*\}|<!--.*?-->/g, "] ");
  rest = take(rest, codeSpan, ([, , code = ""]) => {
    facts.push(...factsOfCode(code));
    return null;
  });
  rest = take(rest, address, ([found]) => ({ kind: "address", text: withoutStop(found) }));
  rest = rest.replaceAll(/<\/?[A-Za-z][^>]*>/g, " ");
  rest = take(rest, variable, ([found]) => ({ kind: "name", text: found }));
  rest = take(rest, flag, ([found]) => ({ kind: "name", text: found }));
  rest = take(rest, version, ([found]) => ({ kind: "value", text: found }));
  rest = rest.replaceAll(/\b(?:steps?|sections?|parts?|chapters?|figures?|tables?|phases?|levels?)\s+\d+/gi, " ");
  take(rest, number, (match) => numberOf(match));
  return facts;
}

/** Of a sample only what is the product's: its flags and variables. Values of a sample are examples. */
export function factsOfSample(line: string): readonly Fact[] {
  const found = [...line.matchAll(variable), ...line.matchAll(flag)];
  return found.map(([text]) => ({ kind: "name", text }));
}

const placeholder = /^(?:your|my|some|example|foo|bar|baz)(?:[-_.]|$)|^<.*>$|^\.\.\.$|^…$/i;

function factsOfCode(code: string): readonly Fact[] {
  if (/^https?:\/\//.test(code)) return [{ kind: "address", text: withoutStop(code) }];
  return code.split(/[\s=,;()[\]{}"'|&]+/).flatMap((part): Fact[] => {
    const text = part.replace(/^[:.@$!?*+<>\\]+|[:.!?*+<>\\]+$/g, "");
    if (text === "" || placeholder.test(text)) return [];
    if (/^-?\d[\d_,]*(?:\.\d+)?$/.test(text)) return [{ kind: "value", text, number: amountOf(text) }];
    if (/^v?\d+(?:\.\d+)+/.test(text)) return [{ kind: "value", text }];
    return /[A-Za-z]{2}/.test(text) ? [{ kind: "name", text }] : [];
  });
}

function numberOf([found, short, word]: RegExpMatchArray): Fact | null {
  const text = /^[\d.,_]*\d/.exec(found)?.[0] ?? found;
  const unit = units[(short ?? word ?? "").toLowerCase().replace(/(?<=..)s$/, "")];
  const value = amountOf(text);
  // A bare 0, 1 or 2 is grammar as often as a fact.
  if (value <= 2 && unit === undefined) return null;
  return { kind: "value", text: unit && short ? found : text, number: value, ...(unit && { unit }) };
}

export function amountOf(text: string): number {
  return Number(text.replaceAll(/[,_]/g, ""));
}

function withoutStop(found: string): string {
  return found.replace(/[.,;:!?*_]+$/, "");
}
