/** Something on a page that is true or false of the product, and that a text can witness. */
export interface Fact {
  kind: "name" | "value" | "address" | "version";
  /** As the page has it. */
  text: string;
  /** Of a number: its value. */
  number?: number;
  /** Of a number with a unit: the kind of unit. Numbers of one kind can be converted into each other. */
  unit?: UnitKind;
  /** Of a number with a unit: how many of the smallest unit that may be. A kilobyte has 1,000 or 1,024 bytes. */
  amounts?: readonly number[];
}

type UnitKind = "time" | "size" | "share";

const flag = /(?<![\w-])--[a-z][\w-]+/gi;
const variable = /(?<![\w$])[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9](?!\w)/g;
const address = /\bhttps?:\/\/[^\s<>"'`)\]}|]+/g;
/** One point may be a decimal's. */
const version = /(?<![\w.-])(?:v\d+(?:\.\d+)*|\d+(?:\.\d+){2,})(?:-[\w.]+)?(?![\w-])/g;
const date = /(?<![\w-])\d{4}-\d{2}-\d{2}(?!\d|-)/g;
const shortUnit = "[mµu]?s|ns|sec|m|min|h|d|[kKMGT]?i?B";
/** A sign or the first half of a range may stand before it, but no part of a name. */
const number = new RegExp(
  `(?<![\\w.#/]|[A-Za-z_-]-)\\d+(?:[,_]\\d{3})*(?:\\.\\d+)?(?:[ -]?(${shortUnit}|%)(?!\\w)|[ -]([A-Za-z]+)(?!\\w))?(?![\\w.]*\\w)`,
  "g",
);
const numberInCode = new RegExp(`^-?\\d[\\d_,]*(?:\\.\\d+)?(${shortUnit}|%)?$`);
const codeSpan = /(`+)(?!`)(.+?)(?<!`)\1(?!`)/g;

const units: Readonly<Record<string, { unit: UnitKind; sizes: readonly number[] }>> = {
  ...byUnit("time", {
    "ns nanosecond": [1e-6],
    "us µs microsecond": [1e-3],
    "ms millisecond": [1],
    "s sec second": [1e3],
    "m min minute": [6e4],
    "h hour": [3.6e6],
    "d day": [8.64e7],
    week: [6.048e8],
    month: [2.592e9, 2.6784e9],
    year: [3.1536e10],
  }),
  ...byUnit("size", {
    "b byte": [1],
    "kb kilobyte kib": [1e3, 1_024],
    "mb megabyte mib": [1e6, 1_024 ** 2],
    "gb gigabyte gib": [1e9, 1_024 ** 3],
    "tb terabyte tib": [1e12, 1_024 ** 4],
  }),
  ...byUnit("share", { "% percent": [1] }),
};

function byUnit(unit: UnitKind, sizes: Readonly<Record<string, readonly number[]>>): typeof units {
  return Object.fromEntries(
    Object.entries(sizes).flatMap(([names, values]) => names.split(" ").map((name) => [name, { unit, sizes: values }])),
  );
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
    .replaceAll(/<(code|kbd|samp|var)\b[^>]*>([^<`]+)<\/\1>/gi, "`$2`")
    .replace(/^\s*(?:\d+[.)]|[-*+]|#{1,6}|>)\s+/, "")
    .replaceAll(/\]\((?!https?:)[^)"]*(?:"([^"]*)"\s*)?\)|\]\[[^\]]*\]|\{#[^}]*\}|<!--.*?-->/g, "] $1 ");
  rest = take(rest, codeSpan, ([, , code = ""]) => {
    facts.push(...factsOfCode(code));
    return null;
  });
  rest = take(rest, address, ([found]) => ({ kind: "address", text: withoutStop(found) }));
  rest = rest.replaceAll(/<\/?[A-Za-z][^>]*>/g, " ");
  rest = take(rest, variable, ([found]) => ({ kind: "name", text: found }));
  rest = take(rest, flag, ([found]) => ({ kind: "name", text: found }));
  rest = take(rest, date, ([found]) => ({ kind: "value", text: found }));
  rest = take(rest, version, ([found]) => ({ kind: "version", text: found }));
  rest = rest.replaceAll(/\b(?:steps?|sections?|parts?|chapters?|figures?|tables?|phases?|levels?)\s+\d+/gi, " ");
  take(rest, number, (match) => numberOf(match));
  return facts;
}

/** Languages whose samples set what a product reads. What samples in others name is the sample's own. */
const settingLanguages =
  /^(?:|(?:ba|z|fi|power)?sh|shell|shell-?session|console|te?xt|(?:dot)?env|ini|toml|ya?ml|docker\w*)$/i;

/** Of a sample only what is the product's: flags, the variables that are set, and the fields of JSON. Values are examples. */
export function factsOfSample(line: string, language = ""): readonly Fact[] {
  const names = [flag, ...(settingLanguages.test(language) ? [variable] : [])].flatMap((pattern) =>
    [...line.matchAll(pattern)].map(([text]) => text),
  );
  const fields = /^json[c5]?$/i.test(language) ? line.matchAll(/"([\w$.-]+)"\s*:/g) : [];
  const facts = [...names, ...[...fields].map(([, key = ""]) => key)].map((text): Fact => ({ kind: "name", text }));
  return facts.filter(isTelling);
}

const nameShapes = [
  /^--[a-z]/i,
  /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/,
  // camelCase and snake_case, not the name of a file.
  /^(?!.*\.[a-z]{1,5}$)(?:[a-z$_][\w$.]*[a-z\d][A-Z]|[\w$.]*[A-Za-z\d]_[A-Za-z\d])[\w$.]*$/,
];
const nameCharactersMax = 100;
/** Conventions of many languages' tools. */
const everywhere = /^(?:node_modules|site-packages|__\w+__|__(?:dir|file)name)$/;

/** Whether it is so much a name of one product that a text which names it must have it from somewhere. */
export function isTelling({ kind, text }: Fact): boolean {
  if (kind === "address" || kind === "version") return true;
  if (kind !== "name" || text.length > nameCharactersMax || everywhere.test(text)) return false;
  return nameShapes.some((shape) => shape.test(text));
}

const placeholder = /^(?:your|my|some|example|foo|bar|baz)(?:[-_.]|$)|^<.*>$|^\.\.\.$|^…$/i;

function factsOfCode(code: string): readonly Fact[] {
  if (/^https?:\/\//.test(code)) return [{ kind: "address", text: withoutStop(code) }];
  return code.split(/[\s=,;()[\]{}"'|&]+/).flatMap((part): Fact[] => {
    const text = part.replace(/^[:.@$!?*+<>\\]+|[:.!?*+<>\\]+$/g, "");
    if (text === "" || placeholder.test(text)) return [];
    const [isNumber, unit = ""] = numberInCode.exec(text) ?? [];
    if (isNumber !== undefined) return [{ kind: "value", text, ...quantityOf(text, unit) }];
    if (/^v?\d+(?:\.\d+)+/.test(text)) return [{ kind: "version", text }];
    return /[A-Za-z]{2}/.test(text) ? [{ kind: "name", text }] : [];
  });
}

function numberOf([found, short, word]: RegExpMatchArray): Fact | null {
  const text = /^[\d.,_]*\d/.exec(found)?.[0] ?? found;
  const quantity = quantityOf(text, short ?? word ?? "");
  // A bare 0, 1 or 2 is grammar as often as a fact.
  if (quantity.number <= 2 && quantity.unit === undefined) return null;
  return { kind: "value", text: quantity.unit && short ? found : text, ...quantity };
}

function quantityOf(text: string, unitName: string): { number: number } & Pick<Fact, "unit" | "amounts"> {
  // A sign says nothing that a witness must repeat.
  const value = amountOf(/\d[\d_,]*(?:\.\d+)?/.exec(text)?.[0] ?? text);
  const known = unitOf(unitName);
  if (!known) return { number: value };
  return { number: value, unit: known.unit, amounts: known.sizes.map((size) => value * size) };
}

export function unitOf(name: string): (typeof units)[string] | undefined {
  const key = name.toLowerCase().replace(/(?<=..)s$/, "");
  return Object.hasOwn(units, key) ? units[key] : undefined;
}

/** The numbers of a text that have a unit, and the text without them. */
export function quantitiesOf(text: string): { found: readonly Fact[]; rest: string } {
  const found: Fact[] = [];
  const rest = text.replaceAll(number, (...match) => {
    const fact = numberOf(match as unknown as RegExpMatchArray);
    if (fact?.unit === undefined) return match[0];
    found.push(fact);
    return " ";
  });
  return { found, rest };
}

export function amountOf(text: string): number {
  return Number(text.replaceAll(/[,_]/g, ""));
}

function withoutStop(found: string): string {
  return found.replace(/[.,;:!?*_]+$/, "");
}
