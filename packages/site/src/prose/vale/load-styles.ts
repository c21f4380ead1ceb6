import { parse } from "yaml";
import {
  readValeConfig,
  settingsFor,
  type ValeConfig,
  type ValeFiles,
  type ValeLevel,
  type ValeProblem,
} from "./config.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import { type Fields, isPhrase, numberOf, type RunRule, ruleKinds, strings } from "./rule-kinds.ts";

export interface ValeRule {
  name: string;
  level: ValeLevel;
  scopes: readonly string[];
  /** The maximum number of alerts for a file. 0 means no maximum. */
  limit: number;
  run: RunRule;
}

export interface ValeStyles {
  config: ValeConfig;
  rules: readonly ValeRule[];
  problems: readonly ValeProblem[];
  settingsFor: (path: string) => ReturnType<typeof settingsFor>;
}

const levelNames: readonly ValeLevel[] = ["suggestion", "warning", "error"];
const scopeNames = new Set(
  "text heading table figure list paragraph sentence alt title blockquote summary raw".split(" "),
);

/** Reads the settings and the rules of all styles that they name. A rule that cannot be used becomes a problem of its file. */
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
      const fields = parse(text, { uniqueKeys: false }) as Fields;
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

/** Vale's built-in rules, without `Vale.Spelling`: the check `spelling` does that. */
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
  const make = typeof kind === "string" ? ruleKinds[kind] : undefined;
  if (typeof kind !== "string") throw new Error("the rule has no `extends`");
  if (typeof message !== "string") throw new Error("the rule has no `message`");
  if (make === undefined) {
    const hint = kind === "spelling" ? "; use the check `spelling`" : "";
    throw new Error(`the rule ${name} extends \`${kind}\`, which is not supported${hint}`);
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

/** Terms that an alert may contain without being reported. `(?i)` makes one term case-insensitive. */
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
