import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { domainToUnicode } from "node:url";
import type { Finding } from "@emend/site";
import { hostsIn } from "../hosts/hosts-in.ts";
import { matchesGlob } from "../lib/matches-glob.ts";
import { decodedForms } from "../secrets/scan-secrets.ts";
import { redactSecrets, UnsearchableText } from "../secrets/secrets-in.ts";
import type { OverlayEntry, Tree } from "../tree/tree.ts";
import type { AddedLine } from "./added-lines.ts";
import { configurationOf, onlyNavigationChanges } from "./configuration.ts";
import { collectParts, type Part, syntaxOf } from "./page-parts.ts";
import { createPageReader, type PageReader } from "./page-reader.ts";
import { isAllowed, kindOf, otherFile } from "./policy.ts";
import type { Policy, ReviewInput, Violation } from "./review.ts";

/** Each host is searched for in the whole repository. Nobody reviews more than this. */
const hostsMax = 500;
/** Enough to explain a refusal; the search stops there. */
const violationsMax = 20;
/** The number of pages to read in search of one that links to the same host or runs the same code. */
const pagesMax = 40;
/** Shorter runs of letters and digits are common words. */
const runMin = 16;
const link = { kind: "link", loads: false } as const;

interface Judging {
  base: Tree;
  reader: PageReader;
  policy: Policy;
  asked: readonly string[];
  /** Text that the agent read from context repositories. */
  contextText?: readonly string[];
}

type File = Pick<OverlayEntry, "path"> & { text: string | null };

/**
 * Finds what a change adds beyond content: code, and addresses at hosts that neither the repository's rendered pages
 * nor the request name. Both are refused. If the project allows it, code becomes a finding and the pull request a
 * draft.
 */
export async function judgeContent(
  { base, reader, policy, asked, contextText = [] }: Judging,
  files: readonly File[],
  words: readonly AddedLine[],
  signal: AbortSignal,
): Promise<{ violations: Violation[]; findings: Finding[] }> {
  const [violations, findings]: [Violation[], Finding[]] = [[], []];
  const deadline = performance.now() + 600_000;
  const entries = await base.list();
  let paths: ReadonlySet<string> | undefined;
  const has = (path: string) => {
    paths ??= new Set(entries.map((entry) => entry.path));
    return paths.has(path);
  };
  // Docusaurus and Mintlify compile Markdown as MDX.
  const isMdx = entries.some(({ path }) =>
    /(?:^|\/)(?:docusaurus\.config\.[cm]?[jt]s|(?:docs|mint)\.json)$/.test(path),
  );
  const askedHosts = new Set(asked.flatMap((text) => [...hostsIn(text)]));
  const allowed = (policy.externalHosts ?? []).map((pattern) => pattern.toLowerCase());
  const answers = new Map<string, Promise<boolean>>();
  const newHosts = new Set<string>();

  const find = (check: string, severity: Finding["severity"], path: string, line: number, message: string) =>
    findings.push({ check, severity, path, line: Math.max(1, line), column: 1, message });

  /**
   * The parts of a file that are not plain words; null if the file cannot be read. A configuration is read string by
   * string.
   */
  async function partsOf(path: string, text: string | null): Promise<readonly Part[] | null> {
    const syntax = syntaxOf(path, isMdx);
    if (text === null) return [];
    if (syntax !== null) return reader.read(text, syntax);
    const parts = collectParts();
    for (const one of configurationOf(path, text)?.texts ?? [text]) {
      const from = parts.all.length;
      parts.value(one, 0);
      if (kindOf(path) !== "other" && /<[a-z!/]/i.test(one)) parts.code(one, "markup in a configuration", 0);
      for (const part of parts.all.slice(from)) part.at = Math.max(0, text.indexOf(one));
    }
    return parts.all;
  }

  const before = async (path: string) => (await base.read(path))?.toString() ?? null;

  /** Whether a rendered page of the base contains such a part. Every page that does contains `text`. */
  async function search(text: string, holds: (part: Part) => boolean): Promise<boolean> {
    const { matches } = await base.search(
      { pattern: text, kind: "literal", ignoreCase: true, matchesMax: 1_000 },
      signal,
    );
    const pages = [...new Set(matches.map(({ path }) => path))].filter(
      (path) => kindOf(path) !== "other" && (syntaxOf(path) ?? !/\.[cm]?[jt]sx?$/.test(path)),
    );
    for (const path of pages.slice(0, pagesMax)) {
      if ((await partsOf(path, await before(path)))?.some(holds)) return true;
    }
    return false;
  }

  function isKnown(text: string, key: string, holds: (part: Part) => boolean): Promise<boolean> {
    const answer = answers.get(key) ?? search(text, holds);
    answers.set(key, answer);
    return answer;
  }

  async function isKnownHost(host: string, isSample: boolean): Promise<boolean> {
    if (askedHosts.has(host) || allowed.some((one) => one !== "*" && matchesGlob(one, host))) return true;
    const holds = ({ kind, hosts }: Part) => (kind === "link" || isSample) && hosts.includes(host);
    const spellings = [...new Set([host, domainToUnicode(host) || host])];
    for (const one of spellings) if (await isKnown(one, `${isSample} ${one}`, holds)) return true;
    return false;
  }

  function isKnownCode({ kind, key }: Part, path: string): Promise<boolean> | boolean {
    if (kind === "code") {
      const [piece = ""] = key.split(/""|\s+/).sort((a, b) => b.length - a.length);
      return piece.length > 2 && isKnown(piece.slice(0, 200), key, (one) => one.kind === kind && one.key === key);
    }
    const folder = folderOf(key);
    const isSame = (one: Part) => one.kind === kind && folderOf(one.key) === folder;
    return (
      isInside(key, { path, docsDir: policy.docsDir, has }) || (folder.length > 2 && isKnown(folder, folder, isSame))
    );
  }

  function tellHost(host: string, path: string, line: number, { kind, loads }: Pick<Part, "kind" | "loads">): void {
    const isOpen = allowed.includes("*");
    const unnamed = "which neither the repository's pages nor the request name";
    if (kind === "sample") {
      const message = `the first code sample that names ${host}, ${unnamed}`;
      find("new-domain", isOpen ? "warning" : "error", path, line, message);
    } else if (isOpen) {
      const message = loads
        ? `the first image or frame that readers would load from ${host}`
        : `the first link to ${host}`;
      find("new-domain", loads ? "error" : "warning", path, line, message);
    } else violations.push({ path, rule: `line ${line} points at ${host}, ${unnamed}` });
  }

  async function judgeFile({ path, text }: File, gone: readonly Part[]): Promise<void> {
    const tell = (rule: string, line: number) => {
      if (isAllowed(policy, path)) return;
      if (policy.codeAsDraft) find("code", "error", path, line, rule);
      else violations.push({ path, rule: line === 0 ? rule : `line ${line} has ${rule}` });
    };
    const kind = kindOf(path);
    const old = await before(path);
    if (kind === "other" && syntaxOf(path) === null) tell(otherFile, 0);
    if ((kind === "navigation" || kind === "configuration") && !onlyNavigationChanges(path, old, text))
      tell("more than navigation and redirects would change", 0);
    if (kind === "asset" && syntaxOf(path) === null) return;
    const parts = await partsOf(path, text);
    if (parts === null) return tell("too large to parse in time", 1);
    const held = parts.length === 0 ? [] : [...((await partsOf(path, old)) ?? []), ...gone];
    const heldKeys = new Set(held.map((part) => `${part.kind} ${part.key}`));
    const added = parts.filter((part) => !heldKeys.has(`${part.kind} ${part.key}`));
    const heldHosts = new Set(held.flatMap((part) => (part.kind === "link" ? part.hosts : [])));
    // Counted first, because searching for each of them is slow.
    for (const host of added.flatMap(({ hosts }) => hosts)) if (!heldHosts.has(host)) newHosts.add(host);
    if (newHosts.size > hostsMax) return;
    const told = new Set<string>();
    // Samples come last: if a host is both linked and shown in a sample, the refusal names the link.
    for (const part of added.sort((a, b) => Number(a.kind === "sample") - Number(b.kind === "sample"))) {
      const at = Math.max(part.at, text?.indexOf(part.hosts[0] ?? "", part.at) ?? 0);
      const line = () => (text ?? "").slice(0, at).split("\n").length;
      if (part.kind === "include" || part.kind === "code") {
        const why = part.why || `an include from outside the documentation (${part.key.slice(0, 200)})`;
        if (!(await isKnownCode(part, path))) tell(why, line());
        continue;
      }
      for (const host of part.hosts) {
        if (told.has(host) || (await isKnownHost(host, part.kind === "sample"))) continue;
        told.add(host);
        tellHost(host, path, line(), part);
      }
      if (part.kind !== "sample" && contextText.length > 0 && carriesText(part.key, contextText))
        violations.push({ path, rule: `line ${line()} has an address that contains text from a context repository` });
    }
  }

  const goneParts: Part[] = [];
  for (const { path } of files.filter((file) => file.text === null && syntaxOf(file.path) !== null))
    goneParts.push(...((await partsOf(path, await before(path))) ?? []));
  for (const file of files) {
    // Each search takes a while, so yield to the other jobs of this process.
    await setImmediate();
    signal.throwIfAborted();
    await judgeFile(file, goneParts);
    if (performance.now() > deadline || newHosts.size > hostsMax) {
      const rule = newHosts.size > hostsMax ? `links to more than ${hostsMax} new domains` : "takes too long to check";
      return { violations: [{ path: "", rule: `the change ${rule}` }], findings: [] };
    }
    if (violations.length >= violationsMax) return { violations, findings };
  }
  for (const { path, line, text } of words) {
    for (const host of hostsIn(text)) if (!(await isKnownHost(host, false))) tellHost(host, path, line, link);
  }
  return { violations, findings };
}

/** Builders look for an included file next to the page, in the docs folder and in the repository's root. */
function isInside(target: string, place: { path: string; docsDir: string; has(path: string): boolean }): boolean {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return false;
  const docs = place.docsDir.replace(/\/*$/, "/").replace(/^\/$/, "");
  const bare = target.replace(/^(?:@site\/|@\/|~\/|\/)/, "").replace(/[#{:].*$/, "");
  const isLocal = !/^[/@~]|\.\./.test(target);
  return [folderOf(place.path), docs, ""].some((from) => {
    const resolved = posix.join(from, bare);
    if (resolved.startsWith("..") || !resolved.startsWith(docs)) return false;
    // Imports may leave out the file extension.
    return isLocal || ["", ".md", ".mdx", ".rst"].some((ending) => place.has(resolved + ending));
  });
}

function folderOf(target: string): string {
  return target.slice(0, target.lastIndexOf("/") + 1);
}

/**
 * Whether an address carries text that was read from a context repository, as it is or encoded. An address that the
 * context repository itself contains leaks nothing.
 */
function carriesText(url: string, contextText: readonly string[]): boolean {
  const [, tail = ""] = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]*[^/\\?#]*(.*)$/is.exec(url.trim()) ?? [];
  if (tail.length < runMin || contextText.some((text) => text.includes(url.trim()))) return false;
  const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
  const read = contextText.map(lettersOf);
  return decodedForms(tail).some((form) => {
    const letters = lettersOf(form);
    const starts = Array.from({ length: Math.max(0, letters.length - runMin + 1) }, (_, at) => at);
    return starts.some((at) => read.some((text) => text.includes(letters.slice(at, at + runMin))));
  });
}

/** Implements the agent's `Vetting`: checks a model's output before a tool receives it and before it is stored. */
export function createVetting(
  base: Tree,
  { policy, asked }: { policy: Policy; asked: readonly string[] },
  { knownSecrets = [], pageReader = createPageReader() }: Pick<ReviewInput, "knownSecrets" | "pageReader"> = {},
) {
  return {
    /** Removes credentials, except those that the repository itself contains. */
    redact: (text: string, signal: AbortSignal) =>
      redactSecrets(text, { known: knownSecrets, isKept: (secret) => isHeld(base, secret, signal) }).catch((error) => {
        if (error instanceof UnsearchableText) return "[redacted: text that could not be searched for secrets]";
        throw error;
      }),
    /** `page`: the file after the edit, if known. It is judged as the review will judge it. */
    async refuse(
      text: string,
      page: { path: string; text: string } | null,
      signal: AbortSignal,
    ): Promise<string | null> {
      const file = page ?? { path: "words.md", text };
      const lines = page ? [] : [{ path: "the text", line: 1, text }];
      const { violations } = await judgeContent({ base, reader: pageReader, policy, asked }, [file], lines, signal);
      return violations[0]?.rule ?? null;
    },
  };
}

/** To remove a leaked credential from a page, the model must be able to name it. */
async function isHeld(base: Tree, secret: string, signal: AbortSignal): Promise<boolean> {
  const line = secret.split("\n", 1)[0] ?? "";
  if (line.length < 8 || line.length > 1_000) return false;
  const { matches } = await base.search({ pattern: line, kind: "literal", matchesMax: 1 }, signal);
  return matches.length > 0;
}
