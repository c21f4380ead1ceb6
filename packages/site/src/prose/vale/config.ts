/** Vale's configuration files, by path. */
export type ValeFiles = Readonly<Record<string, string>>;

export type ValeLevel = "suggestion" | "warning" | "error";
const levels: readonly string[] = ["suggestion", "warning", "error"];

export interface ValeProblem {
  path: string;
  line: number;
  message: string;
}

interface Section {
  matches(path: string): boolean;
  styles: readonly string[] | null;
  /** `Style.Rule` → whether it is enabled. */
  rules: ReadonlyMap<string, boolean>;
  blockIgnores: readonly string[];
  tokenIgnores: readonly string[];
}

export interface ValeConfig {
  file: string;
  stylesPath: string;
  minLevel: ValeLevel;
  vocabularies: readonly string[];
  /** Tags of ignored elements. */
  skipped: readonly string[];
  /** `[*]` first, the others in file order. */
  sections: readonly Section[];
  ruleLevels: ReadonlyMap<string, ValeLevel>;
  problems: readonly ValeProblem[];
}

export const valeConfigFiles = [".vale.ini", "_vale.ini", "vale.ini"];

const knownKeys = new Set([
  "StylesPath",
  "MinAlertLevel",
  "Vocab",
  "Packages",
  "IgnoredScopes",
  "SkippedScopes",
  "IgnoredClasses",
  "WordTemplate",
  "NLPEndpoint",
]);
const unsupportedKeys = new Set([
  "IgnoredClasses",
  "WordTemplate",
  "NLPEndpoint",
  "Transform",
  "CommentDelimiters",
  "IgnorePatterns",
]);

/** Parses `.vale.ini`: the global settings, and each section's settings for matching files. */
export function readValeConfig(file: string, text: string): ValeConfig {
  const problems: ValeProblem[] = [];
  const core = new Map<string, string[]>();
  const sections: { name: string; keys: Map<string, string[]> }[] = [];
  const ruleLevels = new Map<string, ValeLevel>();
  let keys = core;
  const lines = text.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const at = i + 1;
    let line = (lines[i] as string).trim();
    while (line.endsWith("\\") && i + 1 < lines.length) line = line.slice(0, -1) + (lines[++i] as string).trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const section = /^\[(.+)\]$/.exec(line.replace(/\s+[#;].*$/, ""));
    if (section !== null) {
      keys = new Map();
      sections.push({ name: section[1] as string, keys });
      continue;
    }
    const equals = line.indexOf("=");
    if (equals === -1) {
      problems.push({ path: file, line: at, message: `"${line}" is not a setting; write key = value` });
      continue;
    }
    const key = line.slice(0, equals).trim();
    const value = line
      .slice(equals + 1)
      .replace(/\s+[#;].*$/, "")
      .trim();
    keys.set(key, [...(keys.get(key) ?? []), value]);
    if (unsupportedKeys.has(key)) problems.push({ path: file, line: at, message: `${key} is not supported here` });
    else if (keys === core && !knownKeys.has(key))
      problems.push({ path: file, line: at, message: `there is no setting ${key} above the sections` });
    if (keys !== core && key.includes(".") && levels.includes(value)) ruleLevels.set(key, value as ValeLevel);
  }
  const named = sections.filter(({ name }) => name !== "formats" && name !== "asciidoctor");
  const ordered = [...named.filter(({ name }) => name === "*"), ...named.filter(({ name }) => name !== "*")];
  const level = core.get("MinAlertLevel")?.at(-1) ?? "warning";
  if (!levels.includes(level))
    problems.push({ path: file, line: 1, message: `MinAlertLevel must be one of ${levels.join(", ")}` });
  const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/") + 1) : "";
  return {
    file,
    stylesPath: normalize(folder + (core.get("StylesPath")?.at(-1) ?? "styles")),
    minLevel: (levels.includes(level) ? level : "warning") as ValeLevel,
    vocabularies: listOf(core.get("Vocab")),
    skipped: listOf(core.get("SkippedScopes")),
    sections: ordered.map(({ name, keys: own }) => ({
      matches: name === "*" ? () => true : globOf(name),
      styles: own.has("BasedOnStyles") ? listOf(own.get("BasedOnStyles")) : null,
      rules: new Map(
        [...own].flatMap(([key, values]) =>
          /^[\w-]+\.[\w-]+$/.test(key)
            ? [[key, values.at(-1) === "YES" || levels.includes(values.at(-1) ?? "")] as const]
            : [],
        ),
      ),
      blockIgnores: listOf(own.get("BlockIgnores")),
      tokenIgnores: listOf(own.get("TokenIgnores")),
    })),
    ruleLevels,
    problems,
  };
}

function listOf(values: readonly string[] | undefined): string[] {
  return [...new Set((values ?? []).flatMap((value) => value.split(",")).map((one) => one.trim()))].filter(Boolean);
}

function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** In Vale's globs, wildcards also match slashes. */
function globOf(glob: string): (path: string) => boolean {
  let source = "";
  let braces = 0;
  for (const c of glob) {
    if (c === "*") source += ".*";
    else if (c === "?") source += ".";
    else if (c === "{") {
      braces++;
      source += "(?:";
    } else if (c === "}" && braces > 0) {
      braces--;
      source += ")";
    } else if (c === "," && braces > 0) source += "|";
    else if (c === "[" || c === "]") source += c;
    else source += c.replace(/[.+^$()|\\]/g, "\\$&");
  }
  try {
    const expression = new RegExp(`^${source.replaceAll("[!", "[^").replaceAll(".*.*", ".*")}${")".repeat(braces)}$`);
    // Matches the whole path or its end: people write names for files at any depth.
    return (path) => expression.test(path) || expression.test(path.slice(path.lastIndexOf("/") + 1));
  } catch {
    return () => false;
  }
}

/** The merged settings of all sections that match a file. */
export function settingsFor({ sections }: ValeConfig, path: string) {
  let styles: readonly string[] = [];
  const rules = new Map<string, boolean>();
  const blockIgnores: string[] = [];
  const tokenIgnores: string[] = [];
  for (const section of sections) {
    if (!section.matches(path)) continue;
    styles = section.styles ?? styles;
    for (const [rule, runs] of section.rules) rules.set(rule, runs);
    blockIgnores.push(...section.blockIgnores);
    tokenIgnores.push(...section.tokenIgnores);
  }
  const runs = (name: string): boolean => rules.get(name) ?? styles.includes(name.slice(0, name.indexOf(".")));
  return { runs, ignores: [...blockIgnores, ...tokenIgnores] };
}
