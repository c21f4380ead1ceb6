import { isFault } from "@emend/base/fault.ts";
import { matchesGlob } from "@emend/site";
import type { Tree } from "@emend/tree";
import type { ContextTrees } from "../agent.ts";
import { AgentFault } from "../faults.ts";

const alternativesMax = 64;

/** Whether a word is a pattern rather than the name of one file or folder. */
export function isGlob(words: string): boolean {
  return /[*{]/.test(words);
}

/**
 * A filter for paths: `guides` and `guides/` match the folder (or file) and everything in it, `*.mdx` all files of that
 * type, `{a,b}/**` either. A leading slash or dot is ignored.
 */
export function pathFilter(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.flatMap((pattern) => expandBraces(pattern.replace(/^(?:\.?\/)+/, ""))).flatMap(readings);
  return (path) => globs.some((glob) => matchesGlob(glob, path));
}

function readings(pattern: string): readonly string[] {
  const bare = pattern.replace(/\/+$/, "");
  if (bare === "" || bare === ".") return ["**"];
  if (pattern.endsWith("/")) return [`${bare}/**`];
  const anywhere = bare.includes("/") || !bare.includes("*") ? bare : `**/${bare}`;
  return [anywhere, `${anywhere}/**`];
}

function expandBraces(pattern: string): readonly string[] {
  let expanded = [pattern];
  for (;;) {
    const next = expanded.flatMap((one) => {
      const [whole, inner = ""] = /\{([^{}]*)\}/.exec(one) ?? [];
      return whole === undefined ? [one] : inner.split(",").map((part) => one.replace(whole, () => part));
    });
    if (next.length === expanded.length && next.every((one, index) => one === expanded[index])) return next;
    if (next.length > alternativesMax) return expanded.map((one) => one.replaceAll(/\{[^{}]*\}/g, "*"));
    expanded = next;
  }
}

const language = /^[a-z]{2}(?:[-_][A-Za-z]{2,4})?$/;
const twinsMin = 0.5;

/**
 * Files that are copies of others: translations (`es`, if the default language has the same files) and older versions
 * (Docusaurus' `versioned_docs`).
 */
export function copiesAmong(paths: readonly string[]): (path: string) => string | null {
  const known = new Set(paths);
  const twins = new Map<string, { files: number; twins: number }>();
  for (const path of paths) {
    for (const { folder, others } of languageFolders(path)) {
      const count = twins.get(folder) ?? { files: 0, twins: 0 };
      count.files += 1;
      if (others.some((other) => known.has(other))) count.twins += 1;
      twins.set(folder, count);
    }
  }
  const isCopy = (folder: string) => {
    const count = twins.get(folder);
    return count !== undefined && count.twins >= count.files * twinsMin;
  };
  return (path) => {
    const versioned = /^(?:.*\/)?\w*versioned_docs\/[^/]+/.exec(path) ?? /^(?:.*\/)?i18n\/[^/]+/.exec(path);
    if (versioned) return versioned[0];
    return languageFolders(path).find(({ folder }) => isCopy(folder))?.folder ?? null;
  };
}

/** Inside a translation or an old version, its files are not copies. */
export function copiesOutside(paths: readonly string[], folder: string): (path: string) => string | null {
  const copyOf = copiesAmong(paths);
  return (path) => {
    const copy = copyOf(path);
    return copy !== null && (folder === copy || folder.startsWith(`${copy}/`)) ? null : copy;
  };
}

/** Each parent folder that may be a language, with the paths that its default-language file may have. */
function languageFolders(path: string): readonly { folder: string; others: readonly string[] }[] {
  const parts = path.split("/");
  return parts.slice(0, -1).flatMap((part, index) => {
    if (!language.test(part) || part === "en") return [];
    const [before, after] = [parts.slice(0, index), parts.slice(index + 1)];
    const others = [before, [...before, "en"]].map((start) => [...start, ...after].join("/"));
    return [{ folder: [...before, part].join("/"), others }];
  });
}

/** `es 12, fr 9`: the largest first, only a few. */
export function countList(counts: ReadonlyMap<string, number>, shownMax = 12): string {
  const sorted = [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  const list = sorted.slice(0, shownMax).map(([name, count]) => `${name} ${count}`);
  const left = sorted.slice(shownMax).reduce((sum, [, count]) => sum + count, 0);
  return [...list, ...(left > 0 ? [`others ${left}`] : [])].join(", ");
}

export function countOf(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** A path as tools accept it: `@api/src/main.ts` is in the context repository `api`, any other in the project's own. */
export function contextPath(names: readonly string[], path: string): { name: string; path: string } | null {
  const [first = "", ...rest] = path.split("/");
  const name = names.find((known) => `@${known}` === first);
  return name === undefined ? null : { name, path: rest.join("/") };
}

/** Where to read a path. `prefix` turns a path of that tree into one that tools accept. */
export async function locate(
  { overlay, context }: { overlay: Tree; context: ContextTrees },
  path: string,
  signal: AbortSignal,
): Promise<{ tree: Tree; path: string; prefix: string }> {
  const inContext = contextPath(context.names, path);
  if (!inContext) return { tree: overlay, path, prefix: "" };
  return {
    tree: await openContext(context, inContext.name, signal),
    path: inContext.path,
    prefix: `@${inContext.name}/`,
  };
}

/** An unavailable context repository does not fail the job: the model gets the error and may continue without it. */
async function openContext(context: ContextTrees, name: string, signal: AbortSignal): Promise<Tree> {
  try {
    return await context.open(name, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isFault(error) || !away.has(error.code)) throw error;
    const publicMessage = `the context repository ${name} cannot be read: ${error.publicMessage}`;
    throw new AgentFault("invalid_request", { publicMessage, cause: error });
  }
}

const away = new Set<string>(["repository_unavailable", "forge_unavailable", "forge_rejected"]);

/** Why a path cannot be written. Null if it is in the project's own repository. */
export function refuseContextPath(names: readonly string[], path: string): string | null {
  const inContext = contextPath(names, path.replace(/^\/+/, ""));
  return inContext && `the context repository ${inContext.name} is there to read; nothing in it can be changed`;
}
