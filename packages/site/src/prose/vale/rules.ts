import { parse } from "yaml";
import {
  readValeConfig,
  settingsFor,
  type ValeConfig,
  type ValeFiles,
  type ValeLevel,
  type ValeProblem,
} from "./config.ts";
import { type CaseRule, judgeCase } from "./letter-case.ts";
import { compilePattern, type Pattern } from "./pattern.ts";

/** A place where a rule applies, in the text that it was given. */
interface Alert {
  start: number;
  message: string;
}

/** What rules remember within one file: definitions, and spellings that were used. */
export type FileMemory = Set<string>;

export interface ValeRule {
  name: string;
  level: ValeLevel;
  scopes: readonly string[];
  /** At most so many alerts a file; 0: any number. */
  limit: number;
  run(text: string, memory: FileMemory): Alert[];
}

export interface ValeStyles {
  config: ValeConfig;
  rules: readonly ValeRule[];
  problems: readonly ValeProblem[];
  settingsFor: (path: string) => ReturnType<typeof settingsFor>;
}

type Fields = Record<string, unknown>;
const levelNames: readonly ValeLevel[] = ["suggestion", "warning", "error"];
const scopeNames = new Set(
  "text heading table figure list paragraph sentence alt title blockquote summary raw".split(" "),
);

/** Reads the settings and every rule of the styles that they name. What cannot be used is a problem of its file. */
export function loadStyles(configFile: string, files: ValeFiles): ValeStyles {
  const config = readValeConfig(configFile, files[configFile] ?? "");
  const problems: ValeProblem[] = [...config.problems];
  const vocabulary = readVocabulary(config, files, problems);
  const styles = new Set(config.sections.flatMap((section) => section.styles ?? []));
  const single = new Set(
    config.sections.flatMap(({ rules }) => [...rules].flatMap(([rule, runs]) => (runs ? rule : []))),
  );
  const rules: ValeRule[] = [];
  for (const [path, text] of Object.entries(files)) {
    const found = path.startsWith(`${config.stylesPath}/`)
      ? /^([^/]+)\/(?:.*\/)?([^/]+)\.ya?ml$/.exec(path.slice(config.stylesPath.length + 1))
      : null;
    if (found === null || found[1] === "config") continue;
    const name = `${found[1]}.${found[2]}`;
    if (!styles.has(found[1] as string) && !single.has(name)) continue;
    try {
      const fields = parse(text) as Fields;
      const rule = buildRule(name, fields, config, vocabulary.accepted);
      rules.push(rule);
    } catch (error) {
      problems.push({ path, line: 1, message: (error as Error).message.split("\n")[0] as string });
    }
  }
  for (const style of styles) {
    if (style === "Vale" || Object.keys(files).some((path) => path.startsWith(`${config.stylesPath}/${style}/`)))
      continue;
    const message = `the style ${style} is not in ${config.stylesPath}; commit it (vale sync fetches packages)`;
    problems.push({ path: configFile, line: 1, message });
  }
  if (styles.has("Vale") || [...single].some((name) => name.startsWith("Vale."))) {
    rules.push(...builtIn(config, vocabulary));
  }
  return { config, rules, problems, settingsFor: (path) => settingsFor(config, path) };
}

interface Vocabulary {
  accepted: readonly string[];
  rejected: readonly string[];
}

function readVocabulary(config: ValeConfig, files: ValeFiles, problems: ValeProblem[]): Vocabulary {
  const words = (name: string, list: string): string[] => {
    const folders = [`${config.stylesPath}/config/vocabularies/${name}`, `${config.stylesPath}/Vocab/${name}`];
    const text = folders.flatMap((folder) => files[`${folder}/${list}`] ?? [])[0] ?? "";
    return text.split("\n").flatMap((line) => line.replace(/^#.*/, "").trim() || []);
  };
  for (const name of config.vocabularies) {
    if (words(name, "accept.txt").length + words(name, "reject.txt").length > 0) continue;
    problems.push({ path: config.file, line: 1, message: `the vocabulary ${name} is empty or does not exist` });
  }
  return {
    accepted: config.vocabularies.flatMap((name) => words(name, "accept.txt")),
    rejected: config.vocabularies.flatMap((name) => words(name, "reject.txt")),
  };
}

const isPhrase = (text: string): boolean => /^[\p{L}\p{Nd} -]*$/u.test(text);

/** The rules that Vale has of its own. Its spelling is our own check. */
function builtIn(config: ValeConfig, { accepted, rejected }: Vocabulary): ValeRule[] {
  const made = (name: string, fields: Fields): ValeRule =>
    buildRule(name, { level: "error", ...fields }, config, accepted);
  const terms = Object.fromEntries(accepted.filter(isPhrase).map((term) => [term.toLowerCase(), term]));
  const repeated = { extends: "repetition", message: "'%s' is repeated!", alpha: true, tokens: ["[^\\s]+"] };
  return [
    made("Vale.Repetition", repeated),
    ...(Object.keys(terms).length === 0
      ? []
      : [
          made("Vale.Terms", {
            extends: "substitution",
            message: "Use '%s' instead of '%s'.",
            ignorecase: true,
            vocab: false,
            swap: terms,
          }),
        ]),
    ...(rejected.length === 0
      ? []
      : [made("Vale.Avoid", { extends: "existence", message: "Avoid using '%s'.", tokens: rejected })]),
  ];
}

function buildRule(name: string, fields: Fields, config: ValeConfig, accepted: readonly string[]): ValeRule {
  if (typeof fields !== "object" || fields === null) throw new Error("the rule is empty");
  const { extends: kind, message } = fields;
  const make = typeof kind === "string" ? makers[kind] : undefined;
  if (typeof kind !== "string") throw new Error("the rule has no `extends`");
  if (typeof message !== "string") throw new Error("the rule has no `message`");
  if (make === undefined) {
    const hint = kind === "spelling" ? "; use the check `spelling`" : "";
    throw new Error(`rules that extend \`${kind}\` are not supported${hint}`);
  }
  if (typeof fields.pos === "string" && fields.pos !== "") throw new Error("`pos` is not supported");
  const level = config.ruleLevels.get(name) ?? fields.level ?? "warning";
  if (!levelNames.includes(level as ValeLevel)) throw new Error(`\`level\` must be one of ${levelNames.join(", ")}`);
  const scopes = strings(fields.scope ?? "text");
  for (const scope of scopes.flatMap((one) => one.split("&"))) {
    const first = scope.trim().replace(/^~/, "").split(".")[0] as string;
    if (!scopeNames.has(first)) throw new Error(`there is no scope \`${first}\``);
    if (first === "title" || first === "figure") throw new Error(`the scope \`${first}\` is not supported`);
  }
  const terms = fields.vocab === false ? [] : accepted;
  const exceptions = exceptionsOf([...strings(fields.exceptions), ...terms]);
  const run = make({ name, fields, message, exceptions, terms: [...strings(fields.exceptions), ...terms] });
  return { name, level: level as ValeLevel, scopes, limit: numberOf(fields.limit), run };
}

interface Ingredients {
  name: string;
  fields: Fields;
  message: string;
  exceptions: Pattern | null;
  terms: readonly string[];
}

type Run = ValeRule["run"];

const makers: Readonly<Record<string, (ingredients: Ingredients) => Run>> = {
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
    // Groups of their own would shift the number of those that tell the entries apart.
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

/** What matches anywhere in what a rule found, each by its own case. */
function exceptionsOf(terms: readonly string[]): Pattern | null {
  if (terms.length === 0) return null;
  const folded = terms.filter((term) => term.startsWith("(?i)")).map((term) => term.slice(4));
  const exact = terms.filter((term) => !term.startsWith("(?i)"));
  const patterns = [
    ...(exact.length === 0 ? [] : [compilePattern(`\\b(?:${byLength(exact)})\\b`)]),
    ...(folded.length === 0 ? [] : [compilePattern(`\\b(?:${byLength(folded)})\\b`, { ignoreCase: true })]),
  ];
  return {
    matchAll: (text) => patterns.flatMap((pattern) => pattern.matchAll(text)),
    test: (text) => patterns.some((pattern) => pattern.test(text)),
  };
}

const byLength = (terms: readonly string[]): string => terms.toSorted((a, b) => b.length - a.length).join("|");

/** Fills `$1` and the like from the groups that an entry's own pattern has. */
function refer(from: string, observed: string, expected: string, ignoreCase: boolean): string {
  const groups = compilePattern(from, { ignoreCase, isMultiline: false }).matchAll(observed)[0];
  return expected.replace(/\$(\d)/g, (_, n: string) => groups?.[Number(n)] ?? "");
}

function isSame(expected: string, observed: string): boolean {
  if (isPhrase(expected)) return expected === observed;
  try {
    return compilePattern(`^(?:${expected})$`, { isMultiline: false }).test(observed);
  } catch {
    return expected === observed;
  }
}

/** Quotes come with the choices: a message that has its own loses the first pair. */
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
    // A match may go over a line's end; what people read is one line.
    return (values[next++] ?? "").replaceAll("\n", " ");
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function strings(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== "string" && typeof value !== "number") throw new Error(`the rule has no \`${name}\``);
  return String(value);
}

function numberOf(value: unknown): number {
  return value === undefined || Number.isNaN(Number(value)) ? 0 : Number(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function recordOf(value: unknown, name: string): Record<string, string> {
  // A list of pairs is the same.
  const entries = Array.isArray(value) ? value.flatMap((one) => (isRecord(one) ? Object.entries(one) : [])) : null;
  if (entries === null && !isRecord(value)) throw new Error(`the rule has no \`${name}\``);
  return Object.fromEntries((entries ?? Object.entries(value as Fields)).map(([key, one]) => [key, String(one ?? "")]));
}
