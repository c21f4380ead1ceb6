import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type CodeReference,
  compareReferences,
  indexSource,
  openGitSource,
  type SiteTree,
  type SourceIndex,
} from "@emend/site";
import { createPageReader, isOutside, type Repository } from "./truth-replay.ts";

/** Names taken out of a repository, and those of them whose pages were reported. */
interface Planted {
  planted: number;
  seen: number;
  /** Those of the seen ones that are errors, not warnings. */
  certain: number;
  missed: readonly CodeReference[];
}

const plantedMax = 100;

/**
 * Takes names that the docs use out of the sources, one at a time, and counts how often that is seen. Only
 * names that the repository defines by the word of others count: see `readDefinitions`.
 */
export async function plantRemovals(gitDir: string, repository: Repository): Promise<Planted> {
  const source = openGitSource(gitDir);
  try {
    const tree = await source.at("HEAD");
    const outside = (path: string): boolean => isOutside(repository, path);
    const before = await indexSource(tree, { isOutside: outside });
    const references = await createPageReader(repository)(tree, null);
    const named = distinct(references);
    const { isDefined, definedIn } = await readDefinitions(tree, outside);
    const chosen = choose(named.filter(isDefined), plantedMax);
    const missed: CodeReference[] = [];
    let certain = 0;
    for (const reference of chosen) {
      const after = await takeOut(reference, definedIn.get(reference.text) ?? [], before, outside);
      const same = references.filter(({ text }) => text === reference.text);
      const found = await compareReferences(same, before, after);
      const seen = found.find((one) => one.reference === reference);
      if (seen === undefined) missed.push(reference);
      else if (seen.isCertain) certain++;
    }
    return { planted: chosen.length, seen: chosen.length - missed.length, certain, missed };
  } finally {
    source.close();
  }
}

/** The sources without a name. `files`: those that define a flag, most often without its dashes. */
async function takeOut(
  { text }: CodeReference,
  files: readonly string[],
  before: SourceIndex,
  outside: (path: string) => boolean,
): Promise<SourceIndex> {
  const word = lastWord(text);
  const paths = [word, ...spellings(word)].flatMap((one) => before.filesWith(one, Infinity));
  const without = withoutWord(before.tree, word, new Set([...paths, ...files]));
  return indexSource(without, { previous: before, isOutside: outside });
}

/** Each name once. */
function distinct(references: readonly CodeReference[]): CodeReference[] {
  const kinds = new Set(["identifier", "flag", "env", "config-key", "path"]);
  return [...new Map(references.filter(({ kind }) => kinds.has(kind)).map((one) => [one.text, one])).values()];
}

/** Spread by a fixed seed. */
function choose(references: readonly CodeReference[], max: number): CodeReference[] {
  let state = 20;
  const draws = references.map((reference) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return { reference, draw: state };
  });
  return draws
    .sort((a, b) => a.draw - b.draw)
    .slice(0, max)
    .map(({ reference }) => reference);
}

function lastWord(text: string): string {
  return text.split(/\.|::|#/).at(-1) as string;
}

/** How programs define `--dry-run` and `dry-run`: `dry-run`, `dry_run`, `dryRun`, `DryRun`, `DRY_RUN`. */
function spellings(word: string): string[] {
  const words = word.replace(/^--/, "").split("-");
  if (words.length === 1) return [];
  const pascal = words.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).join("");
  const snake = words.join("_");
  return [words.join("-"), snake, pascal.charAt(0).toLowerCase() + pascal.slice(1), pascal, snake.toUpperCase()];
}

/** The tree with a word taken out of some files, with its other spellings. A flag goes with the plain word, which programs read. */
function withoutWord(tree: SiteTree, word: string, paths: ReadonlySet<string>): SiteTree {
  const plain = word.startsWith("--") ? [word.slice(2)] : [];
  const names = [word, ...plain, ...spellings(word)].map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`(?<![\\w$])(?:${names.join("|")})(?![\\w$])`, "g");
  return {
    list: async () =>
      (await tree.list()).map((file) => (paths.has(file.path) ? { ...file, hash: `${file.hash}-${word}` } : file)),
    async read(path) {
      const bytes = await tree.read(path);
      return bytes === null || !paths.has(path)
        ? bytes
        : Buffer.from(Buffer.from(bytes).toString().replace(whole, "zzGone"));
    },
  };
}

const code =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|go|rs|rb|java|kt|cs|c|cc|cpp|h|hpp|php|swift|scala|ex|exs|css|scss|less|proto|graphqls?|json)$/;
const notOwn =
  /(?:^|[/._-])(?:_*tests?_*|_*mocks?_*|_*fixtures?_*|specs?|examples?|e2e|testdata|bench(?:marks?)?|demos?|playgrounds?|node_modules|vendor|third_party|dist)(?=[/._-])/i;
const bytesMax = 1_000_000;

/**
 * What a repository defines, by the word of others than Emend's rules: Universal Ctags for names, the documented calls
 * of command-line libraries for flags, the environment by name for its variables, and JSON Schema and Go's struct tags for keys.
 * Tests, examples and vendored code define nothing.
 */
async function readDefinitions(
  tree: SiteTree,
  outside: (path: string) => boolean,
): Promise<{
  isDefined(reference: CodeReference): boolean;
  /** Flag → the files that define it. */
  definedIn: ReadonlyMap<string, readonly string[]>;
}> {
  const dir = await mkdtemp(join(tmpdir(), "emend-ctags-"));
  try {
    const flags = new Map<string, string[]>();
    const variables = new Set<string>();
    const keys = new Set<string>();
    const packages = new Set<string>();
    const paths: string[] = [];
    for (const { path } of await tree.list()) {
      if (outside(path) || !code.test(path) || notOwn.test(path)) continue;
      const module = /([^/]+)\/__init__\.py$/.exec(path)?.[1];
      if (module !== undefined) packages.add(module);
      const bytes = await tree.read(path);
      if (bytes === null || bytes.length > bytesMax) continue;
      const text = Buffer.from(bytes).toString();
      for (const flag of flagsOf(path, text)) flags.set(flag, [...(flags.get(flag) ?? []), path]);
      for (const found of text.matchAll(/env[^\n]{0,40}?(?<!\w)([A-Z][A-Z\d]*(?:_[A-Z\d]+)+)(?!\w)/gi))
        variables.add(found[1] as string);
      for (const found of text.matchAll(/\b(?:json|yaml|toml|mapstructure):"([\w-]+)/g)) keys.add(found[1] as string);
      if (path.endsWith(".json")) {
        if (path.endsWith("package.json")) packages.add(nameIn(text));
        for (const key of schemaKeys(text)) keys.add(key);
        continue;
      }
      paths.push(path);
      await mkdir(join(dir, dirname(path)), { recursive: true });
      await writeFile(join(dir, path), bytes);
    }
    const names = new Set(ctags(dir, paths));
    const isDefined = ({ kind, text, from }: CodeReference): boolean => {
      // What a sample imports is the repository's if the package is.
      if (from !== undefined && !packages.has(/^@[^/]+\/[^/]+|^[^/.]+/.exec(from)?.[0] ?? from)) return false;
      if (standard.has(text.split(".")[0] as string)) return false;
      const word = lastWord(text);
      switch (kind) {
        case "flag":
          return flags.has(text);
        case "env":
          return variables.has(text) || names.has(text);
        case "config-key":
          return [word, ...spellings(word)].some(
            (one) => keys.has(one) || ((one !== word || !word.includes("-")) && names.has(one)),
          );
        default:
          return names.has(word);
      }
    };
    return { isDefined, definedIn: flags };
  } finally {
    await rm(dir, { recursive: true });
  }
}

function nameIn(manifest: string): string {
  try {
    return String((JSON.parse(manifest) as { name?: unknown }).name);
  } catch {
    return "";
  }
}

/** Names of JavaScript and of Python's standard library, by their own word: `console.log`, `typing.Any`. */
const standard = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...execFileSync("python3", ["-c", "import sys; print(*sys.stdlib_module_names)"]).toString().trim().split(" "),
]);

/** The names of all tags, of the kinds that ctags lists by default, without those inside of functions. */
function ctags(dir: string, paths: readonly string[]): string[] {
  const out = execFileSync("ctags", ["--options=NONE", "--sort=no", "-x", "--_xformat=%N\t%p", "-L", "-"], {
    cwd: dir,
    input: paths.join("\n"),
    maxBuffer: 1 << 29,
    stdio: ["pipe", "pipe", "ignore"],
  });
  return out
    .toString()
    .split("\n")
    .flatMap((line) => (/\t(?:function|method|generator)$/.test(line) ? [] : (line.split("\t")[0] as string)));
}

// As the libraries document them: commander and cac `.option("-d, --dry-run", …)`, yargs `.option("dry-run", …)`, argparse
// `add_argument("--dry-run")`, click and typer `option("--dry-run")`, mercenary `option "dry_run", "--dry-run"`, Go's flag and pflag
// `BoolVar(&x, "dry-run", …)` and `Bool("dry-run", …)`, kingpin `Flag("dry-run", …)`.
const flagCalls =
  /(?:\b(?:\w*[oO]ption|add_argument|add_option)|\.(?:Flag|\w+VarP?|(?:String|Bool|Int|Int64|Uint|Float64|Duration|Count|StringSlice|StringArray)P?))(?:\s*\(\s*|\s+(?=["']))((?:&?[\w.]+,\s*)?(?:["'`][^"'`\n]*["'`]\s*,?\s*)+)/g;

function flagsOf(path: string, text: string): string[] {
  // https://www.w3.org/TR/css-variables-1/: `--name: value`.
  if (/\.(?:css|scss|less)$/.test(path))
    return [...text.matchAll(/(--[\w-]+)\s*:/g)].map((found) => found[1] as string);
  return [...text.matchAll(flagCalls)].flatMap(([, args = ""]) => {
    const dashed = args.match(/--[A-Za-z][\w-]*/g);
    if (dashed !== null) return dashed;
    const first = /["'`]([a-z][\w-]*)["'`]/.exec(args)?.[1];
    return first === undefined ? [] : [`--${first}`];
  });
}

/** The properties of a JSON Schema. */
function schemaKeys(text: string): string[] {
  if (!text.includes('"properties"')) return [];
  const keys: string[] = [];
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (name === "properties" && typeof value === "object" && value !== null) keys.push(...Object.keys(value));
      return value;
    });
  } catch {
    // No JSON: it defines no schema.
  }
  return keys;
}
