import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { domainToUnicode } from "node:url";
import { decodedForms } from "@emend/base/secrets/scan-secrets.ts";
import { redactSecrets, UnsearchableText } from "@emend/base/secrets/secrets-in.ts";
import { type Finding, matchesGlob } from "@emend/site";
import type { OverlayEntry, Tree } from "@emend/tree";
import type { AddedLine } from "./added-lines.ts";
import { problemOfAsset } from "./check-asset.ts";
import type { Construct } from "./construct.ts";
import { hostsIn } from "./hosts/hosts-in.ts";
import type { Part } from "./page-parts.ts";
import { createPageReader, type PageReader } from "./page-reader.ts";
import { isAllowed, kindOf, otherFile } from "./policy.ts";
import { type Syntax, withLineFeeds } from "./read-page.ts";
import type { Policy, ReviewInput, Violation } from "./review.ts";
import { familyOf, folderOf, openSyntaxes } from "./site-syntax.ts";
import { standsAsBefore, surelyLive, withoutCode } from "./without-code.ts";

/** Each host is searched for in the whole repository. Nobody reviews more than this. */
const hostsMax = 500;
/** Enough to explain a refusal; the search stops there. */
const violationsMax = 20;
/** The number of pages to read in search of one that links to the same host or has the same construct. */
const pagesMax = 60;
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

/** How much of a page is looked at. */
type View = (text: string, syntax: Syntax) => string;
const asWritten: View = (text) => text;

type File = Pick<OverlayEntry, "path"> & { text: string | null; content?: Buffer | null };

/**
 * Finds what a change adds beyond content: constructs that are neither in the table of content nor on a page of the
 * base, and addresses at hosts that neither the repository's rendered pages nor the request name. Both are refused. If
 * the project allows it, the constructs become findings and the pull request a draft.
 */
export async function judgeContent(
  { base, reader, policy, asked, contextText = [] }: Judging,
  files: readonly File[],
  words: readonly AddedLine[],
  signal: AbortSignal,
): Promise<{ violations: Violation[]; findings: Finding[]; constructs: Construct[] }> {
  const [violations, findings, constructs]: [Violation[], Finding[], Construct[]] = [[], [], []];
  const deadline = performance.now() + 600_000;
  const site = await openSyntaxes(base);
  const askedHosts = new Set(asked.flatMap((text) => [...hostsIn(text)]));
  const allowed = (policy.externalHosts ?? []).map((pattern) => pattern.toLowerCase());
  const answers = new Map<string, Promise<boolean>>();
  const newHosts = new Set<string>();

  const find = (check: string, severity: Finding["severity"], path: string, line: number, message: string) =>
    findings.push({ check, severity, path, line: Math.max(1, line), column: 1, message });

  /**
   * The parts of a file that are not plain words; null if the file cannot be read. `seen` leaves out what some parser
   * may show as code, or whatever may be code or a comment.
   */
  async function partsOf(path: string, text: string | null, seen: View = asWritten): Promise<readonly Part[] | null> {
    const syntax = site.syntaxOf(path);
    if (text === null || syntax === null) return [];
    return reader.read(seen(text, syntax), syntax);
  }

  const before = async (path: string) => (await base.read(path))?.toString() ?? null;

  /** Whether a rendered page of the base contains such a part. Every page that does contains `text`. */
  async function search(text: string, holds: (part: Part) => boolean, seen: View): Promise<boolean> {
    const { matches } = await base.search(
      {
        pattern: text,
        kind: "literal",
        ignoreCase: true,
        matchesMax: 1_000,
        accepts: (path) => kindOf(path) === "document" || site.syntaxOf(path) !== null,
      },
      signal,
    );
    for (const path of [...new Set(matches.map((match) => match.path))].slice(0, pagesMax)) {
      if ((await partsOf(path, await before(path), seen))?.some(holds)) return true;
    }
    return false;
  }

  function isKnown(text: string, key: string, holds: (part: Part) => boolean, seen: View): Promise<boolean> {
    const answer = answers.get(`${seen.name} ${key}`) ?? search(text, holds, seen);
    answers.set(`${seen.name} ${key}`, answer);
    return answer;
  }

  async function isKnownHost(host: string, isSample: boolean, isLive = false): Promise<boolean> {
    if (askedHosts.has(host) || allowed.some((one) => one !== "*" && matchesGlob(one, host))) return true;
    const holds = ({ kind, hosts }: Part) => (kind === "link" || isSample) && hosts.includes(host);
    const spellings = [...new Set([host, domainToUnicode(host) || host])];
    for (const one of spellings)
      if (await isKnown(one, `${isSample} ${one}`, holds, isLive ? surelyLive : asWritten)) return true;
    return false;
  }

  /** Whether this construct, include or path may be in a page. */
  function isContent({ kind, key, find: text }: Part, path: string): Promise<boolean> | boolean {
    const isSame = (one: Part) => one.kind === kind && one.key === key;
    // A block of code and a comment are known with all their text.
    const seen = /^(?:`{3}|~{3})/.test(key) ? asWritten : key.startsWith("<!--") ? withoutCode : surelyLive;
    if (kind === "form")
      return kindOf(path) === "document" && text.length > 1 && isKnown(text, `form ${key}`, isSame, seen);
    // A builder may take `?` and `#` for parts of a name.
    if (kind === "path")
      return [key, key.replace(/[?#].*$/, "")].every(
        (one) => !posix.join(folderOf(path), decodeSafely(one)).startsWith(".."),
      );
    // What it shows as code may be live in another syntax.
    if ((familyOf(key) ?? familyOf(path)) !== familyOf(path)) return false;
    return (
      site.isInside(key, path, policy.docsDir) ||
      (folderOf(key).length > 2 &&
        !/\.\./.test(key) &&
        isKnown(
          folderOf(key),
          `include ${key}`,
          (one) => one.kind === kind && folderOf(one.key) === folderOf(key),
          surelyLive,
        ))
    );
  }

  /** Whether a file of navigation is data alone, or has around its data what another file of this name has. */
  async function isUsualAround(path: string, rest: string): Promise<boolean> {
    if (/^∅?$/.test(rest.trim())) return true;
    const same = (await base.list()).filter((one) => posix.basename(one.path) === posix.basename(path));
    for (const one of same.slice(0, pagesMax)) {
      const parts = (await partsOf(one.path, await before(one.path))) ?? [];
      if (parts.some((part) => part.kind === "rest" && part.key === rest)) return true;
    }
    return false;
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
    } else
      ask({
        path,
        line,
        text: host,
        kind: "domain",
        reason: `It points at ${host}, ${unnamed}.`,
        key: `domain ${host}`,
      });
  }

  function ask(construct: Construct): void {
    if (construct.key === null || !policy.allowedConstructs?.includes(construct.key)) constructs.push(construct);
  }

  async function judgeFile(
    { path, text, content }: File,
    gone: Record<"any" | "live", readonly Part[]> & { drawings: ReadonlySet<string | null> },
  ): Promise<void> {
    const tell = (rule: string, line: number) => {
      if (isAllowed(policy, path)) return;
      violations.push({ path, rule: line === 0 ? rule : `line ${line} has ${rule}` });
    };
    const kind = kindOf(path);
    const old = await before(path);
    if (old === null && text !== null) {
      const twin = await site.twinOf(path);
      if (twin !== null)
        violations.push({ path, rule: `the name differs from ${twin} only by case or look-alike letters` });
    }
    if (kind === "other") tell(otherFile, 0);
    if (/\.svg$/i.test(path)) {
      if (text !== null && text !== old && !gone.drawings.has(text)) tell(newDrawing, 0);
    } else if (kind === "asset" && content) {
      const problem = problemOfAsset(path, content);
      if (problem !== null && !isAllowed(policy, path)) find("asset", "error", path, 1, problem);
    }
    if (kind === "navigation" && text === null) return;
    const own = await partsOf(path, text);
    if (own === null) return tell("too large to parse in time", 1);
    const parts = [...own];
    const oldParts = [...((await partsOf(path, old)) ?? [])];
    for (const syntax of await site.includersOf(path, signal)) {
      parts.push(...((await reader.read(text ?? "", syntax)) ?? []));
      oldParts.push(...((await reader.read(old ?? "", syntax)) ?? []));
    }
    const held = parts.length === 0 ? [] : [...oldParts, ...gone.any];
    const rest = parts.find((part) => part.kind === "rest")?.key;
    const isOther = kind !== "document" && rest !== oldParts.find((part) => part.kind === "rest")?.key;
    if (isOther && !(old === null && kind === "navigation" && (await isUsualAround(path, rest ?? ""))))
      tell("more than navigation and redirects would change", 0);
    // What was shown as code before, and is not any more, is new.
    const live = (await partsOf(path, text, withoutCode)) ?? [];
    const heldLive = [...((await partsOf(path, old, withoutCode)) ?? []), ...gone.live];
    const nowLive = partsBeyond(live, heldLive);
    const liveKeys = new Set(nowLive.map(keyOf));
    const beyond = partsBeyond(parts, held);
    const shown = withLineFeeds(text ?? "");
    // Where lines around it are new, only what was surely live before is held. Front matter has no such doubts, nor has a
    // whole comment.
    const stands = standsAsBefore(withLineFeeds(old ?? ""), shown, site.syntaxOf(path) ?? "text");
    const isMoved = ({ kind, key, at, again = [] }: Part) =>
      kind === "form" &&
      !key.startsWith("<!--") &&
      [at, ...again].some((place) => place > 4 && !stands(shown.lastIndexOf("\n", place - 1) + 1));
    const written = parts.filter(isMoved);
    const heldSurely = written.length === 0 ? [] : ((await partsOf(path, old, surelyLive)) ?? []);
    const added = [...beyond, ...partsBeyond([...nowLive, ...partsBeyond(written, heldSurely)], beyond)];
    const heldHosts = new Set(held.flatMap((part) => (part.kind === "link" ? part.hosts : [])));
    // Counted first, because searching for each of them is slow.
    for (const host of added.flatMap(({ hosts }) => hosts)) if (!heldHosts.has(host)) newHosts.add(host);
    if (newHosts.size > hostsMax) return;
    const told = new Set<string>();
    // Samples come last: if a host is both linked and shown in a sample, the refusal names the link.
    for (const part of added.sort((a, b) => Number(a.kind === "sample") - Number(b.kind === "sample"))) {
      const at = Math.max(part.at, shown.indexOf(part.hosts[0] ?? part.find, part.at));
      const line = () => shown.slice(0, at).split("\n").length;
      if (part.kind === "include" || part.kind === "form" || part.kind === "path") {
        if (!(await isContent(part, path))) {
          const name = /^<([a-zA-Z][\w-]*)/.exec(part.key)?.[1];
          if (part.kind !== "form" || forbidden.test(part.key) || isAllowed(policy, path)) tell(inWords(part), line());
          else {
            const attributes = [...new Set([...part.key.matchAll(/\s([\w-]+)=/g)].map(([, one]) => one))].sort();
            const key = name === undefined ? null : `element ${name}[${attributes}]`;
            const reason = "No page of the site has it.";
            ask({ path, line: line(), text: part.key.slice(0, 500), kind: name ? "element" : "other", reason, key });
          }
        }
        if (violations.length >= violationsMax) return;
        continue;
      }
      for (const host of part.hosts) {
        if (told.has(host) || (await isKnownHost(host, part.kind === "sample", liveKeys.has(keyOf(part))))) continue;
        told.add(host);
        tellHost(host, path, line(), part);
      }
      if (part.kind !== "sample" && contextText.length > 0 && carriesText(part.key, contextText))
        violations.push({ path, rule: `line ${line()} has an address that contains text from a context repository` });
    }
  }

  const gone = { any: [] as Part[], live: [] as Part[], drawings: new Set<string | null>() };
  for (const { path } of files.filter((file) => file.text === null)) {
    const text = await before(path);
    if (/\.svg$/i.test(path)) gone.drawings.add(text);
    if (kindOf(path) !== "document") continue;
    gone.any.push(...((await partsOf(path, text)) ?? []));
    gone.live.push(...((await partsOf(path, text, withoutCode)) ?? []));
  }
  for (const file of files) {
    // Each search takes a while, so yield to the other jobs of this process.
    await setImmediate();
    signal.throwIfAborted();
    await judgeFile(file, gone);
    if (performance.now() > deadline || newHosts.size > hostsMax) {
      const rule = newHosts.size > hostsMax ? `links to more than ${hostsMax} new domains` : "takes too long to check";
      return { violations: [{ path: "", rule: `the change ${rule}` }], findings: [], constructs: [] };
    }
    if (violations.length >= violationsMax) return { violations, findings, constructs };
  }
  for (const { path, line, text } of words) {
    for (const host of hostsIn(text)) if (!(await isKnownHost(host, false))) tellHost(host, path, line, link);
  }
  return { violations, findings, constructs };
}

const forbidden =
  /^<(?:script|object|embed|base|meta)\b|srcdoc|\son\w+\s*=|(?:javascript|data|vbscript):|^(?:import|export)\b|^\{/i;

const newDrawing =
  "a new or changed SVG file, which can run scripts. Use a PNG or WebP image, or allow the file with policy.allowedPaths";

/** The parts that are not among those held before. */
function partsBeyond(parts: readonly Part[], held: readonly Part[]): Part[] {
  const keys = new Set(held.map(keyOf));
  return parts.filter((part) => part.kind !== "rest" && !keys.has(keyOf(part)));
}

function keyOf({ kind, key }: Part): string {
  return `${kind} ${key}`;
}

/** What was found, and what to write instead. */
function inWords({ kind, key }: Part): string {
  const shown = key.split("\n", 1)[0]?.trim().slice(0, 100) ?? "";
  const [hidden] = /\p{C}|\p{Zl}|\p{Zp}|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]|(?! )\p{Zs}/u.exec(shown) ?? [];
  if (hidden) return `the character U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}. Remove it`;
  if (kind === "include")
    return `an include from outside the documentation (${shown}). Include a page of the docs folder`;
  if (kind === "path") return `an address outside the repository (${shown}). Link to a file inside it`;
  if (/^\(.*\)$/.test(shown))
    return `an address that is not plain ${shown}. Write it without escapes, tags and other schemes`;
  return `${shown}, which is not plain text and which no page of the repository has. Write it as \`code\`, or use what other pages use`;
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
export function createContentJudge(
  base: Tree,
  { policy, asked }: { policy: Policy; asked: readonly string[] },
  { knownSecrets = [], pageReader = createPageReader() }: Pick<ReviewInput, "knownSecrets" | "pageReader"> = {},
) {
  return {
    /** Removes credentials, those of the repository's own pages, too: no model needs to know them. */
    redact: (text: string) =>
      redactSecrets(text, knownSecrets).catch((error) => {
        if (error instanceof UnsearchableText) return "[redacted: text that could not be searched for secrets]";
        throw error;
      }),
    /** Judged as the review will judge them. */
    async refuse(entries: readonly OverlayEntry[], signal: AbortSignal): Promise<string | null> {
      const files = entries.map(({ path, content }) => ({ path, content, text: content?.toString() ?? null }));
      for (const { path, text } of files) {
        const before = (await base.read(path))?.toString() ?? "";
        if (marksIn(text ?? "") > marksIn(before)) return `${path}: ${addsMark}`;
      }
      const { violations } = await judgeContent({ base, reader: pageReader, policy, asked }, files, [], signal);
      const [first] = violations;
      return first ? `${first.path}: ${first.rule}` : null;
    },
    async refuseWords(text: string, signal: AbortSignal): Promise<string | null> {
      const [file, line] = [
        { path: "words.md", text },
        { path: "the text", line: 1, text },
      ];
      const { violations } = await judgeContent({ base, reader: pageReader, policy, asked }, [file], [line], signal);
      return violations[0]?.rule ?? null;
    },
  };
}

const addsMark =
  "[redacted: …] stands for a credential that you were not shown; leave it where it is, or replace it with edit_file and a regex";

function marksIn(text: string): number {
  return text.match(/\[redacted: [\w-]{1,60}\]/g)?.length ?? 0;
}
