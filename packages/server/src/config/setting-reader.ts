import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Reads settings by name, collects their errors, and remembers the names. */
export interface SettingReader {
  readonly problems: string[];
  /** Every name that was read: all existing settings. */
  names(): readonly string[];
  text(name: string): string | null;
  integer(name: string, bounds: { least: number; most: number }): number | null;
  choice<T extends string>(name: string, choices: readonly T[]): T | null;
  flag(name: string): boolean;
  /** A folder that exists or can be created. */
  folder(name: string): string | null;
}

export function createSettingReader(env: NodeJS.ProcessEnv): SettingReader {
  const problems: string[] = [];
  const values = new Map<string, string | null>();

  function text(name: string): string | null {
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = readText(name);
    values.set(name, value);
    return value;
  }

  function readText(name: string): string | null {
    const file = env[`${name}_FILE`];
    const value = env[name];
    if (file && value) problems.push(`${name} and ${name}_FILE are both set: keep one`);
    return file ? readSettingFile(`${name}_FILE`, file, problems) : value || null;
  }

  function choice<T extends string>(name: string, choices: readonly T[]): T | null {
    const given = text(name);
    if (given === null) return null;
    const found = choices.find((one) => one === given);
    if (!found) problems.push(`${name} must be one of ${choices.join(", ")}, not "${given}"`);
    return found ?? null;
  }

  return {
    problems,
    names: () => [...values.keys()],
    text,
    choice,
    integer(name, { least, most }) {
      const given = text(name);
      if (given === null) return null;
      const value = Number(given);
      // Number() alone would accept "0x10", "1e3" and blanks.
      if (/^\d{1,15}$/.test(given) && value >= least && value <= most) return value;
      problems.push(`${name} must be a whole number from ${least} to ${most}, not "${given}"`);
      return null;
    },
    folder(name) {
      const given = text(name);
      if (given === null) return null;
      const path = resolve(given);
      const why = whyNoFolder(path);
      if (why !== null) problems.push(`${name} names ${path}, ${why}`);
      return path;
    },
    flag: (name) => ["true", "1"].includes(choice(name, ["true", "false", "1", "0"]) ?? "false"),
  };
}

/** The content of a `*_FILE` variable's file. An empty file is an error, not "not set". */
function readSettingFile(variable: string, file: string, problems: string[]): string | null {
  try {
    const content = readFileSync(file, "utf8").trim();
    if (content !== "") return content;
    problems.push(`${variable} names ${file}, which is empty`);
  } catch (error) {
    problems.push(`${variable} names ${file}, ${whyUnreadable(error)}`);
  }
  return null;
}

/** Checks the folder, or the nearest existing parent. */
export function whyNoFolder(path: string): string | null {
  let standing = path;
  while (!existsSync(standing) && dirname(standing) !== standing) standing = dirname(standing);
  if (!statSync(standing).isDirectory()) {
    return standing === path ? "which is not a folder" : `which cannot be made: ${standing} is not a folder`;
  }
  try {
    accessSync(standing, constants.W_OK | constants.X_OK);
    return null;
  } catch {
    return `where this user may not write${standing === path ? "" : `: ${standing} belongs to somebody else`}`;
  }
}

/** Continues a sentence that named the file. */
export function whyUnreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  switch (code) {
    case "ENOENT":
      return "which does not exist";
    case "EISDIR":
      return "which is a folder, not a file";
    case "EACCES":
      return "which this user may not read";
    default:
      return `which cannot be read (${code ?? String(error)})`;
  }
}

/** All configuration errors at once, each with a message. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}
