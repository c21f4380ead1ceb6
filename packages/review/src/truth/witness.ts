import { amountOf, type Fact, quantitiesOf } from "./facts.ts";

/** A text that facts are looked up in: what was read, what was asked, what the pages said before. */
export interface Witness {
  holds(fact: Fact): boolean;
}

const numeral = /(?<![\w.])0x[\da-f]+|(?<!\d)\d[\d_,]*(?:\.\d+)?(?:e\d+)?/gi;
const words = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
/** Between milliseconds and years, between bytes and terabytes, between a share and percent. */
const factors: Readonly<Record<NonNullable<Fact["unit"]>, readonly number[]>> = {
  time: [1_000, 60, 3_600, 60_000, 3_600_000, 86_400, 86_400_000, 24, 7, 1_440, 604_800, 1e6, 1e9],
  size: [1_000, 1_024, 1e6, 1_048_576, 1e9, 1_073_741_824, 8],
  share: [100],
};

/** `derives`: a number that is the sum or difference of two others is held, too. Only for a few lines. */
export function createWitness(texts: readonly string[], options: { derives?: boolean } = {}): Witness {
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

  function holdsNumber({ number = Number.NaN, unit, amounts = [] }: Fact): boolean {
    numbers ??= readNumbers(text);
    const { all, bare, withUnit } = numbers;
    // Thirty seconds are not witnessed by thirty minutes.
    if (amounts.some((amount) => withUnit.has(`${unit} ${amount}`))) return true;
    if ((unit ? bare : all).has(number)) return true;
    // A bare 0, 1 or 2 is nearly everywhere: only a few lines may mean it as an hour or a day.
    const converts = (one: number) => (one > 2 || options.derives === true) && bare.has(one);
    if (unit && factors[unit].some((factor) => converts(number * factor) || converts(number / factor))) return true;
    if (!options.derives) return false;
    for (const one of all) if (all.has(number - one) || all.has(number + one)) return true;
    return false;
  }

  function look(fact: Fact): boolean {
    if (fact.number !== undefined) return holdsNumber(fact);
    if (/^\d{4}-\d{2}-\d{2}$/.test(fact.text)) return text.includes(fact.text);
    if (fact.kind === "value") return hasWord(text, fact.text.replace(/^v(?=\d)/, ""));
    if (fact.kind === "name") return holdsName(fact.text);
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
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!/[\w$]/.test(text[at - 1] ?? "") && !/[\w$]/.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}

function squeeze(text: string): string {
  return text.toLowerCase().replaceAll(/[_-]/g, "");
}

interface Numbers {
  all: ReadonlySet<number>;
  /** Those that stand without a unit. */
  bare: ReadonlySet<number>;
  /** Each as its kind and how many of the smallest unit. */
  withUnit: ReadonlySet<string>;
}

function readNumbers(text: string): Numbers {
  const { found, rest } = quantitiesOf(text);
  const bare = numbersOf(rest);
  return {
    all: new Set([...bare, ...found.flatMap(({ number }) => number ?? [])]),
    bare,
    withUnit: new Set(found.flatMap(({ unit, amounts = [] }) => amounts.map((amount) => `${unit} ${amount}`))),
  };
}

/** The numbers of a text, those in words and the products that code writes, as 60 * 1000. */
function numbersOf(text: string): Set<number> {
  const numbers = new Set<number>();
  for (const [found] of text.matchAll(numeral)) numbers.add(amountOf(found));
  for (const [found] of text.matchAll(/\d[\d_.]*(?:\s*\*\s*\d[\d_.]*)+/g)) {
    numbers.add(found.split("*").reduce((product, factor) => product * amountOf(factor.trim()), 1));
  }
  for (const [found, power] of text.matchAll(/\b2\s*\*\*\s*(\d+)/g)) if (found) numbers.add(2 ** Number(power));
  for (const [value, word] of words.entries()) if (new RegExp(`\\b${word}\\b`, "i").test(text)) numbers.add(value);
  return numbers;
}
