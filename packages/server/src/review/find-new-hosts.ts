import { setImmediate } from "node:timers/promises";
import type { Finding } from "@emend/site";
import { hostsIn, unreadable } from "../lib/hosts-in.ts";
import type { Added, AddedLine } from "./added-lines.ts";
import { type Addresses, addressesOf, loads } from "./addresses-of.ts";
import { builtInFile } from "./built-in-code.ts";
import type { KnownHosts } from "./known-hosts.ts";
import type { PageReader } from "./page-reader.ts";
import { mayLead } from "./page-reading.ts";
import type { Violation } from "./review.ts";

/** Each is looked for in the whole repository; nobody reviews more. */
const hostsMax = 500;
/** Enough to say why; the rest need not be looked for. */
const violationsMax = 20;
const reviewMsMax = 120_000;

interface Judging {
  known: KnownHosts;
  reader: PageReader;
}

type Judged = { violations: Violation[]; findings: Finding[] };

/**
 * Other sites that the change is the first to name: refused where a page would load from them or link to them, unless the
 * project or the person named them; told, and a draft, where they stand in code that is only shown.
 */
export async function findNewHosts(
  { known, reader }: Judging,
  added: Added,
  linesOfWords: readonly AddedLine[],
  signal: AbortSignal,
): Promise<Judged> {
  const judged: Judged = { violations: [], findings: [] };
  const places = new Map<string, { file: File | null; at: AddedLine | null; isShown: boolean }>();
  const deadline = performance.now() + reviewMsMax;
  const before = await hostsBefore(added);
  const files = added.files.filter(({ text }) => !added.before.some((old) => old.text === text));
  for (const file of files) {
    // Each takes a while: others of this process must get their turn.
    await setImmediate();
    if (performance.now() > deadline) return tooLong;
    const { live, shown, unreadable: built } = await addressesIn({ known, reader }, file, before, signal);
    for (const host of live) {
      if (places.get(host)?.isShown !== false) places.set(host, { file, at: null, isShown: false });
    }
    for (const host of shown) if (!places.has(host)) places.set(host, { file, at: null, isShown: true });
    await judgeBuilt({ known, reader }, { file, built: [...built, ...builtInFile(file)], added }, judged, signal);
  }
  for (const at of linesOfWords) {
    for (const host of hostsIn(at.text)) places.set(host, { file: null, at, isShown: false });
  }

  const unseen = [...places].filter(([host]) => !before.has(host));
  if (unseen.length > hostsMax) {
    const rule = `${unseen.length} sites come up, more than the ${hostsMax} that are looked for`;
    return { violations: [{ path: "", rule }], findings: [] };
  }
  let linesOf: ReadonlyMap<string, readonly AddedLine[]> | undefined;
  for (const [host, place] of unseen) {
    if (performance.now() > deadline) return tooLong;
    const verdict = await known.judge(host, signal);
    if (verdict === "known") continue;
    if (place.file !== null) linesOf ??= linesByHost(added, new Set(unseen.map(([name]) => name)));
    const at = place.at ?? placeOf(host, place.file as File, linesOf ?? new Map());
    if (place.isShown) judged.findings.push(shownFinding(host, at, verdict));
    else if (verdict === "refused") judged.violations.push(violationOf(host, at));
    else judged.findings.push(liveFinding(host, at));
    if (judged.violations.length >= violationsMax) break;
  }
  return judged;
}

const tooLong: Judged = {
  violations: [{ path: "", rule: `the sites it points at could not be looked for in ${reviewMsMax / 1_000} s` }],
  findings: [],
};

async function hostsBefore(added: Added): Promise<ReadonlySet<string>> {
  const hosts = new Set<string>();
  for (const { text } of added.before) {
    await setImmediate();
    for (const host of hostsIn(text)) if (host !== unreadable) hosts.add(host);
  }
  return hosts;
}

type File = Added["files"][number];

/** The parser is asked only where it could make a difference. */
async function addressesIn(
  { known, reader }: Judging,
  { path, text }: File,
  before: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Addresses> {
  const all = addressesOf(text, null);
  if (mayLead(text)) return addressesOf(text, await reader.read(path, text));
  for (const host of all.live) {
    if (before.has(host) || (await known.judge(host, signal)) === "known") continue;
    return addressesOf(text, await reader.read(path, text));
  }
  return all;
}

/** What was put together before, in the same words, was there before. */
async function judgeBuilt(
  { known, reader }: Judging,
  { file, built, added }: { file: File; built: readonly string[]; added: Added },
  judged: Judged,
  signal: AbortSignal,
): Promise<void> {
  if (built.length === 0) return;
  const before = new Set<string>();
  for (const { path, text } of added.before) {
    for (const words of addressesOf(text, await reader.read(path, text)).unreadable) before.add(words);
    for (const words of builtInFile({ path, text })) before.add(words);
  }
  for (const words of built.filter((one) => !before.has(one)).slice(0, violationsMax)) {
    const line = file.text.slice(0, Math.max(0, file.text.indexOf(words))).split("\n").length;
    const at = { path: file.path, line, text: words };
    const verdict = await known.judge(unreadable, signal);
    if (verdict === "refused") judged.violations.push(violationOf(unreadable, at));
    else judged.findings.push(liveFinding(unreadable, at));
  }
}

/** The first line that brings it in, one that loads from it before one that links to it. */
function placeOf(host: string, file: File, linesOf: ReadonlyMap<string, readonly AddedLine[]>): AddedLine {
  const lines = (linesOf.get(host) ?? []).filter(({ path }) => path === file.path);
  // An address may go over several lines, each of which says nothing.
  return lines.find(isLoading) ?? lines[0] ?? { path: file.path, line: 1, text: file.text };
}

/** All at once: to read every line for each of hundreds of hosts takes seconds. */
function linesByHost(added: Added, sought: ReadonlySet<string>): ReadonlyMap<string, readonly AddedLine[]> {
  const linesOf = new Map<string, AddedLine[]>();
  for (const line of added.lines) {
    if (!/[:/\\]|www\.|&/i.test(line.text)) continue;
    for (const host of hostsIn(line.text)) {
      if (!sought.has(host)) continue;
      const lines = linesOf.get(host);
      if (lines) lines.push(line);
      else linesOf.set(host, [line]);
    }
  }
  return linesOf;
}

function violationOf(host: string, { path, line }: AddedLine): Violation {
  return { path, rule: `line ${line} points at ${host}, which neither the repository nor the request names` };
}

function liveFinding(host: string, line: AddedLine): Finding {
  const isLoaded = isLoading(line);
  const message = isLoaded
    ? `the first image or frame that readers would load from ${host}`
    : `the first link to ${host}`;
  return findingAt(line, isLoaded ? "error" : "warning", message);
}

function shownFinding(host: string, line: AddedLine, verdict: "flagged" | "refused"): Finding {
  const message = `the first code that names ${host}, which neither the repository nor the request names`;
  return findingAt(line, verdict === "refused" ? "error" : "warning", message);
}

function findingAt({ path, line }: AddedLine, severity: Finding["severity"], message: string): Finding {
  return { check: "new-domain", severity, path, line, column: 1, message };
}

function isLoading({ text }: AddedLine): boolean {
  return loads.test(text);
}
