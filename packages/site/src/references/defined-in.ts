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
    if (bytes !== null && declares(name, Buffer.from(bytes).toString())) return path;
  }
  return null;
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

/** Whether one of these files defines a flag, with or without its dashes. */
export async function definesFlagIn(
  paths: readonly string[],
  flag: string,
  { tree, filesWith }: SourceIndex,
  { signal }: Options,
): Promise<boolean> {
  const plain = flag.replace(/^--/, "");
  for (const path of filesWith(plain, filesLookedAtMax, paths)) {
    signal?.throwIfAborted();
    if (!isExample(path) && definesFlag(plain, Buffer.from((await tree.read(path)) ?? "").toString())) return true;
  }
  return false;
}
