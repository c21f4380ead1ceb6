import { readFacts } from "../facts/read-facts.ts";
import type { Fix } from "../types.ts";
import { declaringFile, definesFlagIn, isDefined } from "./defined-in.ts";
import type { CodeReference, ReferenceKind } from "./find-references.ts";
import { filesLookedAtMax, movedUnchanged, renamedTo } from "./find-rename.ts";
import { hasOneSpelling, isOwnPackage, mayBeGone, type Probe, prefixesOf, probesOf } from "./probes.ts";
import { examples, isExample } from "./read-source-file.ts";
import { changedFiles, lostWords, type SourceIndex } from "./source-index.ts";

export type StaleCause =
  /** No certain replacement. */
  | { kind: "removed" }
  /** The same change replaced it with this name, file or package. */
  | { kind: "renamed"; to: string };

/** A reference that was known at the commit the page agreed with, and is unknown at the new one. */
export interface StaleReference {
  reference: CodeReference;
  /** The missing part: the reference itself, or the part that no source has any more. */
  gone: string;
  cause: StaleCause;
  /** Some of the files that had it before. */
  paths: readonly string[];
  /** False: another package or the reader may have a thing of this name. */
  isCertain: boolean;
  /** Only if the change renamed it. */
  fix?: Fix;
}

export interface CompareOptions {
  /** Old path → new path, from git's rename detection. Files that moved unchanged are found without it. */
  renames?: ReadonlyMap<string, string>;
  signal?: AbortSignal;
}

const pathsMax = 5;

/** The references that a source change made stale. A reference that was unknown before is never stale. */
export async function compareReferences(
  references: Iterable<CodeReference>,
  before: SourceIndex,
  after: SourceIndex,
  options: CompareOptions = {},
): Promise<StaleReference[]> {
  const changed = changedFiles(before, after);
  let gained: string[] | undefined;
  const change: Change = {
    before: remembering(before),
    after: remembering(after),
    changed,
    gained: () => (gained ??= changedFiles(after, before)),
  };
  const isLost = lostWords(before, after, changed);
  const withoutLost = { ...after, has: (word: string) => !isLost(word) };
  const gone = new Map<string, Gone | null>();
  const suspects: { reference: CodeReference; key: string }[] = [];
  // What a page imports from somebody else's package, it means wherever it names it.
  const others = new Set<string>();
  for (const reference of references) {
    if (!mayBeGone(reference, hasOneSpelling(reference) ? withoutLost : after)) continue;
    const { from } = reference;
    if (from !== undefined && !isOwnPackage(from, before)) {
      others.add(`${reference.page} ${reference.text}`);
      continue;
    }
    const isImported = from !== undefined;
    const key = `${reference.kind} ${reference.text}${isImported ? " imported" : ""}`;
    let found = gone.get(key);
    if (found === undefined) {
      const probes = probesOf(reference, before).filter((probe) => isGone(probe, change));
      found = probes.length === 0 ? null : { probes, kind: reference.kind, isImported };
      gone.set(key, found);
    }
    if (found !== null) suspects.push({ reference, key });
  }
  const judged = await judgeAll(gone, change, options);
  return suspects.flatMap(({ reference, key }) => {
    const judgement = judged.get(key);
    if (judgement === undefined) return [];
    if (reference.from === undefined && others.has(`${reference.page} ${judgement.gone}`)) return [];
    return [staleReference(reference, judgement)];
  });
}

/**
 * Whether a variable begins with the name of a package that the sources build: `EMEND_MODEL` of `@emend/cli`. Others, such
 * as `HTTP_PROXY` and `AWS_REGION`, many programs read.
 */
function isOwnVariable(variable: string, { manifests }: SourceIndex): boolean {
  const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z\d]/g, "");
  const starts = new Set(prefixesOf(variable).map(letters));
  for (const [path, name] of manifests) {
    if (examples.test(path)) continue;
    const parts = name.split("/").filter((part) => !/^v\d+$/.test(part));
    const names = name.startsWith("@") ? parts : parts.slice(-1);
    if (names.some((part) => starts.has(letters(part)))) return true;
  }
  return false;
}

/** The first of these files that defines the flag by its syntax. Flags of other programs are strings too. */
async function fileOfFlag(word: string, paths: readonly string[], { tree }: SourceIndex): Promise<string | null> {
  const name = `--${word.replace(/^--/, "")}`;
  for (const path of paths.slice(0, filesLookedAtMax)) {
    const facts = await readFacts(path, Buffer.from((await tree.read(path)) ?? "").toString());
    if (facts.some((fact) => fact.container === "flags" && fact.name === name)) return path;
  }
  return null;
}

/** `--dry-run`: 2, `createDryRun`: 3. */
function wordsIn(name: string): number {
  return name.split(/[-_]+|(?<=[a-z\d])(?=[A-Z])/).filter((word) => word !== "").length;
}

interface Gone {
  /** The parts that were known and are now unknown. */
  probes: readonly Probe[];
  kind: ReferenceKind;
  /** A sample imports it from a package of the sources. */
  isImported: boolean;
}

// Reading is mostly waiting.
const judgedAtOnce = 8;

async function judgeAll(
  gone: ReadonlyMap<string, Gone | null>,
  change: Change,
  options: CompareOptions,
): Promise<ReadonlyMap<string, Judgement>> {
  const all = [...gone].filter((one): one is [string, Gone] => one[1] !== null);
  const judged = new Map<string, Judgement>();
  const left = all.values();
  async function judgeSome(): Promise<void> {
    for (const [key, { probes, ...one }] of left) {
      for (const probe of probes) {
        options.signal?.throwIfAborted();
        const judgement = await judge({ probe, ...one }, change, options);
        if (judgement === null) continue;
        judged.set(key, judgement);
        break;
      }
    }
  }
  await Promise.all(Array.from({ length: judgedAtOnce }, judgeSome));
  return judged;
}

interface Judgement {
  gone: string;
  cause: StaleCause;
  paths: readonly string[];
  isCertain: boolean;
}

function staleReference(reference: CodeReference, judgement: Judgement): StaleReference {
  const { gone, cause } = judgement;
  const stale: StaleReference = { reference, ...judgement };
  const at = cause.kind === "renamed" ? reference.text.lastIndexOf(gone) : -1;
  if (cause.kind !== "renamed" || at === -1 || reference.inGenerated) return stale;
  const start = reference.start + Buffer.byteLength(reference.text.slice(0, at));
  const edit = { path: reference.page, start, end: start + Buffer.byteLength(gone), text: cause.to };
  return { ...stale, fix: { title: `Replace ${gone} with ${cause.to}`, edits: [edit] } };
}

/** Two states of the sources. */
interface Change {
  before: SourceIndex;
  after: SourceIndex;
  /** The files of the earlier state that are gone or differ. Only they can contain a word that no file has any more. */
  changed: readonly string[];
  /** The files of the new state that are new or differ. */
  gained(): readonly string[];
}

const rememberedMax = 32_000_000;

/** The sources with a tree that reads a file once: several questions are about the same files. */
function remembering(index: SourceIndex): SourceIndex {
  const { tree } = index;
  const known = new Map<string, Promise<Uint8Array | null>>();
  let bytes = 0;
  async function read(path: string): Promise<Uint8Array | null> {
    const content = await tree.read(path);
    bytes += content?.length ?? 0;
    if (bytes > rememberedMax) known.delete(path);
    return content;
  }
  return {
    ...index,
    tree: {
      list: () => tree.list(),
      read(path) {
        const found = known.get(path) ?? read(path);
        if (bytes <= rememberedMax) known.set(path, found);
        return found;
      },
    },
  };
}

function isGone(probe: Probe, { before, after, changed, gained }: Change): boolean {
  switch (probe.kind) {
    case "file":
      return !after.files.has(probe.path);
    case "package":
      // Only where its manifest now names another: if the folder left too, it may be in a repository of its own.
      return !after.hasPackage(probe.name) && namesAnother(probe.name, before, after);
    case "word":
      if (after.has(probe.word)) return false;
      // A router may add the rest of a route's end.
      if (
        probe.others.some(
          (other) => after.has(other) && (other.startsWith("/") || isGained(other, { before, after, gained })),
        )
      )
        return false;
      // A file that is now too large or generated is not read, so its content is unknown.
      return !before.filesWith(probe.word, Infinity, changed).some((path) => after.skipped.has(path));
  }
}

/** Whether a file has the name that did not have it before. One word may be anything. */
function isGained(word: string, { before, after, gained }: Omit<Change, "changed">): boolean {
  if (!before.has(word)) return true;
  if (wordsIn(word) < 2) return false;
  const having = after.filesWith(word, Infinity, gained());
  return having.some((path) => !isExample(path) && before.filesWith(word, 1, [path]).length === 0);
}

function namesAnother(name: string, before: SourceIndex, after: SourceIndex): boolean {
  return [...before.manifests].some(([file, other]) => other === name && after.manifests.has(file));
}

/** Null if the sources only used the name, and somebody else defines it. */
async function judge(
  { probe, kind, isImported }: Omit<Gone, "probes"> & { probe: Probe },
  change: Change,
  options: CompareOptions,
): Promise<Judgement | null> {
  const { before, after } = change;
  if (probe.kind === "file") {
    const to = options.renames?.get(probe.path) ?? movedUnchanged(probe.path, before, after);
    return { gone: probe.path, cause: causeOf(to), paths: [probe.path], isCertain: true };
  }
  if (probe.kind === "package") return { gone: probe.name, cause: { kind: "removed" }, paths: [], isCertain: false };
  const paths = before.filesWith(probe.word, Infinity, change.changed);
  if (kind === "flag" && (await definesFlagIn(change.gained(), probe.word, after, options))) return null;
  // Another spelling counts if it is gone too.
  const spelled = [...(probe.defined === undefined ? [] : [probe.defined]), ...probe.others];
  const names = [probe.word, ...spelled.filter((other) => !after.has(other))];
  const filesOf = (name: string) =>
    name === probe.word ? paths : before.filesWith(name, filesLookedAtMax, change.changed);
  if (!(await isDefined(names, filesOf, before, { isImported, ...options }))) return null;
  const sources = paths.filter((path) => !isExample(path));
  const to = await renamedTo(probe.word, paths, before, after, options);
  const declaring =
    kind === "flag"
      ? await fileOfFlag(probe.word, sources, before)
      : await declaringFile(sources, probe.word, before, options);
  // Messages name the first: the file that declares it, or one that is no test.
  const named = [...new Set([...(declaring === null ? [] : [declaring]), ...sources, ...paths])].slice(0, pathsMax);
  // What a program offers under its own name. Other names are often another package's or the reader's too, and a program whose
  // files left may live on in a repository of its own.
  const isKept = (path: string) => after.files.has(path) || options.renames?.has(path) === true;
  const isCertain =
    (declaring === null ? sources : [declaring]).some(isKept) &&
    (kind === "route" ||
      (kind === "flag" && declaring !== null) ||
      (kind === "env" && isOwnVariable(probe.word, before)));
  return { gone: probe.word, cause: causeOf(to), paths: named, isCertain };
}

function causeOf(to: string | null): StaleCause {
  return to === null ? { kind: "removed" } : { kind: "renamed", to };
}
