import { declares, definesFlag, type Evidence, importedFrom, passesOn, readEvidence } from "./definitions.ts";
import type { CodeReference } from "./find-references.ts";
import { filesLookedAtMax } from "./find-rename.ts";
import { packageOf } from "./manifests.ts";
import { plainPath, probesOf } from "./probes.ts";
import { isExample } from "./read-source-file.ts";
import type { SourceIndex } from "./source-index.ts";

interface Options {
  signal?: AbortSignal;
}

/** Whether one of several sources defines what a reference names: a name that they only use is another's. */
export async function isDefinedIn(
  indexes: readonly SourceIndex[],
  reference: Pick<CodeReference, "kind" | "text" | "from">,
  options: Options = {},
): Promise<boolean> {
  const isImported = reference.from !== undefined;
  for (const index of indexes) {
    if (reference.kind === "file" && index.files.has(plainPath(reference.text))) return true;
    // Of all files: tests and examples are left out later, and many may come first.
    const filesOf = (name: string) => index.filesWith(name, Infinity);
    for (const probe of probesOf(reference, index)) {
      if (probe.kind !== "word") return true;
      const names = [probe.word, ...probe.others.filter(index.has)];
      if (await isDefined(names, filesOf, index, { isImported, isKeyEnough: true, ...options })) return true;
    }
  }
  return false;
}

/** Whether a source file, not a test or an example, defines one of the spellings of a name; see `readEvidence`. */
export async function isDefined(
  names: readonly string[],
  filesOf: (name: string) => readonly string[],
  sources: SourceIndex,
  {
    isImported,
    isKeyEnough = false,
    signal,
  }: {
    isImported: boolean;
    /** Whether a flag or a key that the code passes counts, even if the code does not read it. */
    isKeyEnough?: boolean;
    signal?: AbortSignal;
  },
): Promise<boolean> {
  const [word = ""] = names;
  // A route's end is a string wherever it is, but tests only use it. So is a flag, where a key is enough.
  if (word.startsWith("/") || (isKeyEnough && word.startsWith("--")))
    return filesOf(word).some((path) => !isExample(path));
  if (/^\w.*-/.test(word) && (await isDependency(word, filesOf(word), sources))) return false;
  const seen: Evidence = { isDefined: false, isPassed: false, isRead: false };
  for (const name of new Set(names)) {
    const files = filesOf(name).filter((path) => !isExample(path));
    for (const path of files.slice(0, filesLookedAtMax)) {
      signal?.throwIfAborted();
      const bytes = await sources.tree.read(path);
      if (bytes === null) continue;
      const text = Buffer.from(bytes).toString();
      const from = importedFrom(name, text);
      if (isImported && passesOn(name, text)) return true;
      // A component of the sources may wrap one of the same name.
      if (!isImported && from !== null && !isOwnModule(from, sources)) return false;
      if (name.startsWith("--") && definesFlag(name.slice(2), text)) return true;
      const found = readEvidence(name, path, text);
      seen.isPassed ||= found.isPassed;
      seen.isRead ||= found.isRead;
      if (found.isDefined || (seen.isPassed && (seen.isRead || isKeyEnough))) return true;
    }
  }
  return false;
}

/** The first of these files that declares the name. */
export async function declaringFile(
  paths: readonly string[],
  name: string,
  { tree }: SourceIndex,
  { signal }: Options,
): Promise<string | null> {
  for (const path of paths.slice(0, filesLookedAtMax)) {
    signal?.throwIfAborted();
    const bytes = await tree.read(path);
    if (bytes !== null && declares(name, path, Buffer.from(bytes).toString())) return path;
  }
  return null;
}

export const manifests = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod"];

/** Whether the name is a package: of somebody else, with a version in a manifest, or one of the sources. */
async function isDependency(name: string, paths: readonly string[], { tree }: SourceIndex): Promise<boolean> {
  const inJson = new RegExp(`"${name}"\\s*:\\s*"(?:[\\d^~<>=*]|\\w+:)|"name"\\s*:\\s*"${name}"`);
  for (const path of paths) {
    if (!manifests.includes(path.slice(path.lastIndexOf("/") + 1))) continue;
    if (!path.endsWith(".json") || inJson.test(Buffer.from((await tree.read(path)) ?? "").toString())) return true;
  }
  return false;
}

/** Whether an import is of the sources: a relative path, a package that they build, or one of their folders and files. */
function isOwnModule(from: string, { files, hasPackage }: SourceIndex): boolean {
  if (/^[./~#$]|^@\//.test(from) || hasPackage(packageOf(from))) return true;
  return namesOf(files).has(from.split(/[./]/)[0] as string);
}

const namesOfFiles = new WeakMap<ReadonlyMap<string, string>, ReadonlySet<string>>();

/** All names of folders and files, without their endings. */
function namesOf(files: ReadonlyMap<string, string>): ReadonlySet<string> {
  let names = namesOfFiles.get(files);
  if (names === undefined) {
    const found = new Set<string>();
    for (const path of files.keys()) {
      const parts = path.split("/");
      for (const [i, part] of parts.entries()) {
        const dot = part.indexOf(".");
        if (dot !== -1) found.add(part.slice(0, dot));
        if (i < parts.length - 1) found.add(part);
      }
    }
    names = found;
    namesOfFiles.set(files, names);
  }
  return names;
}

/**
 * Programs also define flags without dashes: one is still there while a file that had it names the plain word in code, or any
 * file defines it. Several words are looked for in any file.
 */
export async function hasFlagWithoutDashes(
  word: string,
  paths: readonly string[],
  after: SourceIndex,
  { signal }: Options,
): Promise<boolean> {
  const plain = word.replace(/^--/, "");
  const had = new Set(paths);
  // In Rust, a field is a flag of the same name.
  const field = plain.replaceAll("-", "_");
  const withFields = paths.filter((path) => plain.includes("-") && path.endsWith(".rs"));
  for (const path of after.filesWith(field, filesLookedAtMax, withFields)) {
    signal?.throwIfAborted();
    if (Buffer.from((await after.tree.read(path)) ?? "").includes(`${field}:`)) return true;
  }
  const named = [...after.filesWith(plain, filesLookedAtMax, had), ...after.filesWith(plain, filesLookedAtMax)];
  for (const path of new Set(named)) {
    signal?.throwIfAborted();
    if (!had.has(path) && isExample(path)) continue;
    const bytes = await after.tree.read(path);
    if (bytes === null) continue;
    const text = Buffer.from(bytes).toString();
    if (definesFlag(plain, text)) return true;
    // One word may be anything elsewhere.
    if (!had.has(path) && !plain.includes("-")) continue;
    const { isDefined, isPassed, isRead } = readEvidence(plain, path, text);
    if (isDefined || isPassed || isRead) return true;
  }
  return false;
}

const wildcard = /^(?:export \* from\s+["']([^"']+)["']|from ([\w.]+) import \*|pub use ([\w:]+)::\*)/gm;
const wildcardsMax = 50;

/** Whether a file now passes on all names of somebody else's package: `from other import *`. They may be among them. */
export async function isTakenOver(
  paths: readonly string[],
  { before, after }: { before: SourceIndex; after: SourceIndex },
  { signal }: Options,
): Promise<boolean> {
  for (const path of paths.slice(0, filesLookedAtMax)) {
    signal?.throwIfAborted();
    const text = Buffer.from((await after.tree.read(path)) ?? "").toString();
    const found = wildcardsOf(text);
    if (found.size === 0) continue;
    const old = wildcardsOf(Buffer.from((await before.tree.read(path)) ?? "").toString());
    const fresh = [...found].filter((from) => !old.has(from)).slice(0, wildcardsMax);
    if (fresh.some((from) => !isOwnModule(from, after) && !isInlineModule(from, text))) return true;
  }
  return false;
}

/** The modules whose names a file passes on. */
function wildcardsOf(text: string): Set<string> {
  return new Set(
    Array.from(
      text.matchAll(wildcard),
      ([, script, python, rust = ""]) => script ?? python ?? rust.replaceAll("::", "/"),
    ),
  );
}

/** In Rust: `crate::a`, or `mod a { … }` in the file itself. */
function isInlineModule(from: string, text: string): boolean {
  const [first = ""] = from.split("/");
  return /^(?:crate|self|super)$/.test(first) || text.includes(`mod ${first} `);
}
