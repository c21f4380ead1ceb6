import { setImmediate } from "node:timers/promises";
import type { Finding } from "@emend/site";
import { hostsIn } from "../lib/hosts-in.ts";
import type { OverlayEntry, Tree } from "../tree/tree.ts";
import type { AddedLine } from "./added-lines.ts";
import { onlyNavigationChanges, textsOf } from "./configuration.ts";
import { carriesText } from "./context-text.ts";
import { createKnownInBase, folderOf, type KnownInBase } from "./known-in-base.ts";
import { takeNotes } from "./notes.ts";
import type { PageReader } from "./page-reader.ts";
import { type Code, type PageReading, syntaxOf } from "./page-reading.ts";
import { isAllowed, kindOf, otherFile } from "./policy.ts";
import type { Policy, Violation } from "./review.ts";

/** Each is looked for in the whole repository; nobody reviews more. */
const hostsMax = 500;
/** Enough to say why; the rest need not be looked for. */
const violationsMax = 20;
const reviewMsMax = 600_000;

export interface Judging {
  base: Tree;
  reader: PageReader;
  policy: Policy;
  asked: readonly string[];
  /** What was read from context repositories, which are no one's to publish. */
  contextText?: readonly string[];
}

export interface Judged {
  violations: Violation[];
  findings: Finding[];
}

type File = Pick<OverlayEntry, "path"> & { text: string | null };

/**
 * What a change adds beyond content: code, and addresses at sites that neither the repository's rendered pages nor the
 * request name. Both are refused; where the project says so, code is a finding and the pull request a draft.
 */
export async function judgeContent(
  judging: Judging,
  files: readonly File[],
  words: readonly AddedLine[],
  signal: AbortSignal,
): Promise<Judged> {
  const { base, policy, asked } = judging;
  const reader = await withMdx(judging.reader, base);
  const known = createKnownInBase(base, reader, { allowed: policy.externalHosts ?? [], asked });
  const judged: Judged = { violations: [], findings: [] };
  const deadline = performance.now() + reviewMsMax;
  const gone = files.filter(({ text }) => text === null).map(({ path }) => path);
  const hosts = new Set<string>();
  for (const file of files) {
    // Each takes a while: others of this process must get their turn.
    await setImmediate();
    signal.throwIfAborted();
    await judgeFile({ ...judging, reader, known, gone, hosts }, file, judged, signal);
    if (performance.now() > deadline || hosts.size > hostsMax) {
      const rule = hosts.size > hostsMax ? `names more than ${hostsMax} new sites` : "takes too long to judge";
      return { violations: [{ path: "", rule: `the change ${rule}` }], findings: [] };
    }
    if (judged.violations.length >= violationsMax) return judged;
  }
  for (const { path, line, text } of words) {
    for (const host of hostsIn(text)) {
      if ((await known.judgeHost(host, false, signal)) === "refused") judged.violations.push(newHost(host, path, line));
    }
  }
  return judged;
}

interface FileJudging extends Judging {
  known: KnownInBase;
  /** Files that the change deletes: what they held may have moved. */
  gone: readonly string[];
  /** Every new site that came up. */
  hosts: Set<string>;
}

async function judgeFile(
  judging: FileJudging,
  { path, text }: File,
  judged: Judged,
  signal: AbortSignal,
): Promise<void> {
  const { base, policy, reader } = judging;
  const kind = kindOf(path);
  const isFree = isAllowed(policy, path);
  const tell = (rule: string, line: number) => {
    if (isFree) return;
    if (policy.codeAsDraft) judged.findings.push(findingAt("code", "error", path, line, rule));
    else judged.violations.push({ path, rule: line === 0 ? rule : `line ${line} has ${rule}` });
  };
  if (kind === "navigation" || kind === "configuration") {
    const before = (await base.read(path))?.toString() ?? null;
    if (!onlyNavigationChanges(path, before, text)) tell("more than navigation and redirects would change", 0);
    if (text === null) return;
    const reading = readTexts(path, before, text);
    for (const { why, at } of reading.code) tell(why, lineAt(text, at));
    await judgeReading(judging, { path, text, reading }, judged, signal);
  } else if (text !== null && syntaxOf(path) !== null) {
    const reading = await reader.read(path, text);
    if (reading === null) tell("more than can be parsed in time", 1);
    else {
      for (const code of await newCode(judging, path, reading, signal)) tell(code.why, lineAt(text, code.at));
      await judgeReading(judging, { path, text, reading }, judged, signal);
    }
  } else if (kind === "other" && !isFree) tell(otherFile, 0);
  else if (kind === "other" && text !== null) {
    const notes = takeNotes();
    notes.value(text, 0);
    await judgeReading(judging, { path, text, reading: notes.reading() }, judged, signal);
  }
}

/** Code that no page of the base holds in the same form. */
async function newCode(
  { known, gone, policy, base }: FileJudging,
  path: string,
  reading: PageReading,
  signal: AbortSignal,
): Promise<readonly Code[]> {
  const added: Code[] = [];
  for (const code of reading.code) {
    const heldBefore = ({ code: all }: PageReading) => all.some(({ shape }) => shape === code.shape);
    if (!(await wasThere(known, [path, ...gone], heldBefore)) && !(await known.holdsCode(code.shape, signal)))
      added.push(code);
  }
  const files = new Set(reading.includes.length === 0 ? [] : (await base.list()).map((entry) => entry.path));
  for (const { target, at } of reading.includes) {
    if (isInside(target, { path, docsDir: policy.docsDir, files })) continue;
    const heldBefore = ({ includes }: PageReading) => includes.some((one) => one.target === target);
    if (await wasThere(known, [path, ...gone], heldBefore)) continue;
    if (folderOf(target).length > 2 && (await known.holdsInclude(folderOf(target), signal))) continue;
    added.push({ shape: target, why: `an include from outside the documentation (${target.slice(0, 200)})`, at });
  }
  return added;
}

/** Where builders look for an included file: beside the page, at the top of the documentation, of the repository. */
function isInside(target: string, place: { path: string; docsDir: string; files: ReadonlySet<string> }): boolean {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return false;
  const docs = place.docsDir.replace(/\/+$/, "");
  const isLocal = !/^(?:[/@~]|\.\.\/)/.test(target);
  const bare = target.replace(/^(?:@site\/|@\/|~\/|\/)/, "").replace(/[#{:].*$/, "");
  return [...new Set([folderOf(place.path), docs === "" ? "" : `${docs}/`, ""])].some((from) => {
    const resolved = joined(from + bare);
    if (resolved === null || (docs !== "" && !resolved.startsWith(`${docs}/`))) return false;
    return (isLocal && !bare.includes("..")) || place.files.has(resolved) || isNamed(place.files, resolved);
  });
}

/** Imports leave the ending out. */
function isNamed(files: ReadonlySet<string>, path: string): boolean {
  return [".md", ".mdx", ".rst"].some((ending) => files.has(path + ending));
}

function joined(path: string): string | null {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") {
      if (segments.pop() === undefined) return null;
    } else if (segment !== "." && segment !== "") segments.push(segment);
  }
  return segments.join("/");
}

async function wasThere(
  known: KnownInBase,
  paths: readonly string[],
  holds: (reading: PageReading) => boolean,
): Promise<boolean> {
  for (const path of paths) {
    const before = syntaxOf(path) === null ? null : await known.page(path);
    if (before && holds(before)) return true;
  }
  return false;
}

async function judgeReading(
  { known, gone, hosts, contextText = [] }: FileJudging,
  { path, text, reading }: { path: string; text: string; reading: PageReading },
  judged: Judged,
  signal: AbortSignal,
): Promise<void> {
  const here = new Set<string>();
  const named = new Set(reading.addresses.flatMap((address) => address.hosts));
  // Counted before any of them is looked for.
  if (named.size > hostsMax) {
    for (const old of (await known.page(path))?.addresses ?? []) for (const host of old.hosts) named.delete(host);
    if (named.size > hostsMax) for (const host of named) hosts.add(host);
    if (named.size > hostsMax) return;
  }
  const wasHere = (holds: (before: PageReading) => boolean) => wasThere(known, [path, ...gone], holds);
  for (const address of reading.addresses) {
    const { url, loads, at } = address;
    const isOld = () => wasHere(({ addresses }) => addresses.some((one) => one.url === url));
    for (const host of address.hosts) {
      if (here.has(host)) continue;
      const verdict = await known.judgeHost(host, false, signal);
      if (verdict === "known" || (await isOld())) continue;
      here.add(host);
      if (hosts.add(host).size > hostsMax) return;
      if (verdict === "refused") judged.violations.push(newHost(host, path, lineAt(text, at)));
      if (verdict === "flagged") judged.findings.push(firstLink(host, loads, path, lineAt(text, at)));
    }
    if (contextText.length > 0 && carriesText(url, contextText) && !(await isOld())) {
      const rule = `line ${lineAt(text, at)} has an address that carries text of a context repository`;
      judged.violations.push({ path, rule });
    }
  }
  for (const { host, at } of reading.shown) {
    if (here.has(host)) continue;
    const verdict = await known.judgeHost(host, true, signal);
    if (verdict === "known" || (await wasHere(({ shown }) => shown.some((one) => one.host === host)))) continue;
    here.add(host);
    if (hosts.add(host).size > hostsMax) return;
    const severity = verdict === "refused" ? "error" : "warning";
    const message = `the first code sample that names ${host}, which neither the repository nor the request names`;
    judged.findings.push(
      findingAt("new-domain", severity, path, lineAt(text, Math.max(at, text.indexOf(host, at))), message),
    );
  }
}

/** The texts that a configuration gained. Markup in one is rendered by some frameworks. */
function readTexts(path: string, before: string | null, after: string): PageReading {
  const notes = takeNotes();
  const old = new Set(before === null ? [] : textsOf(path, before));
  for (const text of textsOf(path, after)) {
    if (old.has(text)) continue;
    const at = Math.max(0, after.indexOf(text));
    notes.value(text, at);
    if (/<[a-z!/]/i.test(text)) notes.code(text, "markup in a configuration", at);
  }
  return notes.reading();
}

/** Whether Markdown is MDX there: Docusaurus and Mintlify compile it so. */
async function withMdx(reader: PageReader, base: Tree): Promise<PageReader> {
  const isMdx = (await base.list()).some(({ path }) =>
    /(?:^|\/)(?:docusaurus\.config\.[cm]?[jt]s|(?:docs|mint)\.json)$/.test(path),
  );
  return isMdx ? { ...reader, read: (path, text) => reader.read(path, text, { isMdxSite: true }) } : reader;
}

function newHost(host: string, path: string, line: number): Violation {
  return { path, rule: `line ${line} points at ${host}, which neither the repository's pages nor the request name` };
}

function firstLink(host: string, loads: boolean, path: string, line: number): Finding {
  const message = loads ? `the first image or frame that readers would load from ${host}` : `the first link to ${host}`;
  return findingAt("new-domain", loads ? "error" : "warning", path, line, message);
}

function findingAt(check: string, severity: Finding["severity"], path: string, line: number, message: string): Finding {
  return { check, severity, path, line: Math.max(1, line), column: 1, message };
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}
