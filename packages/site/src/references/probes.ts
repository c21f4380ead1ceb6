import type { CodeReference } from "./find-references.ts";
import { packageOf } from "./manifests.ts";
import { plainRoute } from "./source-words.ts";

/** The evidence that a reference is known: a word in the sources, a file, or a package. */
export type Probe =
  | {
      kind: "word";
      word: string;
      /** Other spellings: where one of them is new, the word was only rewritten. */
      others: readonly string[];
      /** How programs define a flag without its dashes. */
      defined?: string;
    }
  | { kind: "file"; path: string }
  | { kind: "package"; name: string };

type Asked = Pick<CodeReference, "kind" | "text" | "from">;
interface Sources {
  files: ReadonlyMap<string, string>;
  has(word: string): boolean;
  hasPackage(name: string): boolean;
}

const wordMin = 3;

/** The parts of a reference that the sources know. Empty if the reference is not theirs. */
export function probesOf({ kind, text, from }: Asked, sources: Sources): Probe[] {
  if (from !== undefined && !isOwnPackage(from, sources)) return [];
  switch (kind) {
    case "identifier":
      return sources.has(text) ? [{ kind: "word", word: text, others: [] }] : [];
    case "path":
      return pathProbes(text, sources);
    case "env":
      return sources.has(text) ? [{ kind: "word", word: text, others: prefixesOf(text) }] : [];
    case "flag":
      // `no-color` may be a flag of its own, or the opposite of `color`.
      return spelled(
        text,
        text.startsWith("--no-") ? [text, text.slice(2)] : [text],
        [...spellings(text.replace(/^--(?:no-)?/, "")), ...(text.startsWith("--no-") ? spellings(text.slice(2)) : [])],
        sources,
      ).map((probe) => ({
        ...probe,
        ...(/[a-z]-[a-z]/i.test(text) && { defined: text.slice(2) }),
      }));
    case "config-key":
      if (text.includes("-")) return spelled(text, [text], spellings(text), sources);
      return sources.has(text) ? [{ kind: "word", word: text, others: spellings(text) }] : [];
    case "route":
      return routeProbes(text, sources);
    case "file": {
      const path = knownFile(text, sources.files);
      return path === null ? [] : [{ kind: "file", path }];
    }
    case "package":
      return sources.hasPackage(packageOf(text)) ? [{ kind: "package", name: packageOf(text) }] : [];
  }
}

/** Whether an import is of a package that the sources build. Python's imports name modules: `kit.part` is in the folder `kit`. */
export function isOwnPackage(from: string, { files, hasPackage }: Pick<Sources, "files" | "hasPackage">): boolean {
  if (hasPackage(packageOf(from))) return true;
  const module = /^\w+(?=\.|$)/.exec(from)?.[0];
  if (module === undefined) return false;
  return (
    [module, module.replaceAll("_", "-")].some(hasPackage) ||
    ["", "src/"].some((folder) => files.has(`${folder}${module}/__init__.py`))
  );
}

/** Whether a part of a reference is missing from the sources now: it is stale if it was there before. */
export function mayBeGone({ kind, text }: Asked, after: Sources): boolean {
  switch (kind) {
    case "path":
      return pathWords(text).some((word) => !after.has(word));
    case "file":
      return !after.files.has(plainPath(text));
    case "package":
      return !after.hasPackage(packageOf(text));
    case "route":
      return !after.has(routeEnds(text)[0] ?? "");
    default:
      return !after.has(text);
  }
}

/** Whether the words of the text are all its probes: then it is gone only if the change took out one of them. */
export function hasOneSpelling({ kind }: Asked): boolean {
  return kind === "identifier" || kind === "path" || kind === "env";
}

/** `APP_DB_`, `APP_`: a program may read variables by a prefix. */
export function prefixesOf(variable: string): string[] {
  return [...variable.matchAll(/_(?=.)/g)].map(({ index }) => variable.slice(0, index + 1));
}

/** Without the first in lower case: it may be a variable of the reader. Nor are internal names judged. */
function pathWords(text: string): string[] {
  const isJudged = (word: string, i: number) =>
    word.length >= wordMin && !/^_|_$/.test(word) && (i > 0 || !/^[a-z]/.test(word));
  return text.split(/\.|::|#/).filter(isJudged);
}

function pathProbes(text: string, sources: Sources): Probe[] {
  const words = pathWords(text).filter((word) => sources.has(word));
  return words.map((word) => ({ kind: "word", word, others: [] }));
}

/** The first known spelling represents the reference. */
function spelled(
  text: string,
  literal: readonly string[],
  others: readonly string[],
  sources: Sources,
): (Probe & { kind: "word" })[] {
  const word = literal.find(sources.has) ?? (/[a-z]-[a-z]/i.test(text) ? others.find(sources.has) : undefined);
  return word === undefined
    ? []
    : [{ kind: "word", word, others: [...literal, ...others].filter((other) => other !== word) }];
}

/** `dry-run`, `dry_run`, `dryRun`, `DryRun`, `DRY_RUN`. */
function spellings(name: string): string[] {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[-_]/);
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  const pascal = words.map(capital).join("");
  const camel = (words[0] ?? "") + words.slice(1).map(capital).join("");
  return [...new Set([words.join("-"), words.join("_"), camel, pascal, words.join("_").toUpperCase()])];
}

/** The suffixes of a route, the longest first: a router may add a prefix. */
function routeEnds(text: string): string[] {
  const segments = plainRoute(text.replace(/^[A-Z]+\s+(?:https?:\/\/[^/]+)?/, ""))
    .split("/")
    .slice(1);
  return segments.map((_, i) => `/${segments.slice(i).join("/")}`).filter((end) => /[a-z]{2}/i.test(end));
}

function routeProbes(text: string, sources: Sources): Probe[] {
  const ends = routeEnds(text);
  const known = ends.filter((end) => sources.has(end));
  return known.map((word) => ({ kind: "word", word, others: ends.filter((end) => end !== word) }));
}

export function plainPath(text: string): string {
  return text.replace(/^(?:\.{1,2}\/)+/, "").replace(/\/$/, "");
}

/**
 * A path from the root of the sources. A suffix of a path could be the reader's own file, and so could a path that also
 * ends others: those of a template, for example.
 */
function knownFile(text: string, files: ReadonlyMap<string, string>): string | null {
  const path = plainPath(text);
  if (!files.has(path)) return null;
  for (const other of files.keys()) if (other.endsWith(`/${path}`)) return null;
  return path;
}
