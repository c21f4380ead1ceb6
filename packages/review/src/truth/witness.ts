import { amountOf, type Fact, quantitiesOf, unitOf } from "./facts.ts";

/** A text that facts are looked up in: what was read, what was asked, what the pages said before. */
export interface Witness {
  holds(fact: Fact): boolean;
}

const numeral = /(?<![\w.])0x[\da-f]+|(?<!\d)\d[\d_,]*(?:\.\d+)?(?:e\d+)?/gi;
const words = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");

export function createWitness(texts: readonly string[]): Witness {
  const text = texts.join("\n");
  let joined: string | undefined;
  let numbers: Numbers | undefined;
  const known = new Map<string, boolean>();

  function holdsName(name: string): boolean {
    if (hasWord(text, name)) return true;
    const plain = squeeze(name);
    joined ??= squeeze(text);
    // The same name as a flag, a field and a variable: --max-retries, maxRetries, MAX_RETRIES.
    if (plain.length >= 4 && joined.includes(plain)) return true;
    const parts = name.split(/[./:#\\]+/).filter((part) => part !== "");
    return parts.length > 1 && parts.every((part) => hasWord(text, part));
  }

  function look(fact: Fact): boolean {
    const { kind, unit, amounts = [], number } = fact;
    if (number !== undefined) {
      numbers ??= readNumbers(text);
      // Thirty seconds are not witnessed by thirty minutes, nor by a thirty of which nothing tells the unit.
      return unit ? amounts.some((amount) => numbers?.withUnit.has(keyOf(unit, amount))) : numbers.all.has(number);
    }
    if (/^\d{4}-\d{2}-\d{2}$/.test(fact.text)) return text.includes(fact.text);
    if (kind === "value" || kind === "version") return hasWord(text, fact.text.replace(/^v(?=\d)/, ""));
    if (kind === "name") return holdsName(fact.text);
    const [, host = "", rest = ""] = /^https?:\/\/([^/?#]*)([^?#]*)/.exec(fact.text) ?? [];
    const path = rest.replace(/\/+$/, "");
    return text.includes(fact.text) || (text.includes(host) && (path === "" || text.includes(path)));
  }

  return {
    holds(fact) {
      const key = `${fact.kind} ${fact.unit ?? ""} ${fact.text}`;
      const found = known.get(key) ?? look(fact);
      known.set(key, found);
      return found;
    },
  };
}

/** Not as a part of a longer word or number. */
export function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!/[\w$]/.test(text[at - 1] ?? "") && !/[\w$]/.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}

function squeeze(text: string): string {
  return text.toLowerCase().replaceAll(/[_-]/g, "");
}

interface Numbers {
  all: Set<number>;
  /** Each as its kind of unit and how many of the smallest unit. */
  withUnit: Set<string>;
}

/** A number without a unit has that of its line: of a name, as `timeoutMs` or `delay_seconds`, or of a comment. */
function readNumbers(text: string): Numbers {
  const numbers: Numbers = { all: new Set(), withUnit: new Set() };
  for (const line of text.split("\n")) {
    const { found, rest } = quantitiesOf(line);
    for (const { unit = "", amounts = [], number = 0 } of found) {
      numbers.all.add(number);
      for (const amount of amounts) numbers.withUnit.add(keyOf(unit, amount));
    }
    const bare = numbersOf(rest);
    const named = bare.size === 0 ? [] : unitsNamedIn(rest);
    for (const number of bare) {
      numbers.all.add(number);
      for (const { unit, sizes } of named) for (const size of sizes) numbers.withUnit.add(keyOf(unit, number * size));
    }
  }
  return numbers;
}

function unitsNamedIn(line: string) {
  const parts = line.match(/[A-Z]?[a-zµ]+|[A-Z]+(?![a-z])|%/g) ?? [];
  return parts.flatMap((part) => (part.length > 1 || part === "%" ? (unitOf(part) ?? []) : []));
}

function keyOf(unit: string, amount: number): string {
  return `${unit} ${Number(amount.toPrecision(9))}`;
}

/** The numbers of a text, those in words and the products that code writes, as 60 * 1000. */
function numbersOf(text: string): Set<number> {
  const numbers = new Set<number>();
  for (const [found] of text.matchAll(numeral)) numbers.add(amountOf(found));
  for (const [found] of text.matchAll(/\d[\d_.]*(?:\s*\*\s*\d[\d_.]*)+/g)) {
    numbers.add(found.split("*").reduce((product, factor) => product * amountOf(factor.trim()), 1));
  }
  for (const [found, power] of text.matchAll(/\b2\s*\*\*\s*(\d+)/g)) if (found) numbers.add(2 ** Number(power));
  for (const [word] of text.matchAll(/[a-z]+/gi)) {
    const value = words.indexOf(word.toLowerCase());
    if (value !== -1) numbers.add(value);
  }
  return numbers;
}
