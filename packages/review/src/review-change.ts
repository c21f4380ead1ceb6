import { asRead } from "@emend/base/secrets/scan-secrets.ts";
import { type FoundSecret, secretsIn, UnsearchableText } from "@emend/base/secrets/secrets-in.ts";
import { compareSites, type Finding, openSite, type Severity } from "@emend/site";
import { type OverlayEntry, siteTreeOf, type Tree } from "@emend/tree";
import { type Added, type AddedLine, addedLines } from "./added-lines.ts";
import { judgeContent } from "./judge-content.ts";
import { createPageReader } from "./page-reader.ts";
import { kindOf, violationsOf } from "./policy.ts";
import { invisibleIn } from "./read-page.ts";
import type { ReviewInput, Verdict, Violation } from "./review.ts";
import { findCandidates } from "./truth/candidates.ts";
import { findLostContent } from "./truth/lost-content.ts";

/** Reviews a change. Policy violations and secrets deny it, new findings flag it, and everything else passes. */
export async function reviewChange(input: ReviewInput, signal: AbortSignal): Promise<Verdict> {
  const { knownSecrets = [] } = input;
  // Checked first, because every other refusal names the file.
  const names = await findSecretNames(input.base, input.overlay.entries(), knownSecrets, signal);
  if (names.length > 0) return { kind: "denied", violations: names };
  const violations = violationsOf(input.policy, input.overlay.entries());
  if (violations.length > 0) return { kind: "denied", violations };

  const added = await addedLines(input.base, input.overlay.entries());
  const words = linesOfWords(input);
  // A pushed secret cannot be revoked by closing the pull request, so not even a draft is allowed.
  const secrets = await findSecrets(added, words, knownSecrets, signal);
  if (secrets.length > 0) return { kind: "denied", violations: secrets };

  // The same holds for data that a reader's browser would send.
  const { base, policy, asked = [], contextText = [] } = input;
  const reader = input.pageReader ?? createPageReader();
  const files = input.overlay
    .entries()
    .map(({ path, content }) => ({ path, content, text: content?.toString() ?? null }));
  const judging = { base, reader, policy, asked, contextText };
  const content = await judgeContent(judging, files, words, signal);
  if (content.violations.length > 0) return { kind: "denied", violations: content.violations };

  const comparison = await compare(input, signal);
  const all = input.whole ? await addedLines(input.whole.base, input.whole.entries) : added;
  const untrue = await findUntruths(input, words, added, all, signal);
  const introduced = [
    ...comparison.introduced,
    ...findInvisible(all, words),
    ...content.findings,
    ...(await findLeaked(added.files, knownSecrets, signal)),
    ...untrue.filter(({ check }) => check === "deleted-page"),
  ].sort(bySeverity);
  return {
    kind: introduced.some(needsLook) ? "flagged" : "passed",
    introduced,
    ...(input.evidence && { candidates: untrue.filter(({ check }) => check !== "deleted-page") }),
    fixed: comparison.fixed,
    constructs: content.constructs,
    findingsBefore: comparison.before,
    findingsAfter: comparison.after,
    links: { total: comparison.tally.links, unjudged: comparison.tally.unjudged },
  };
}

/**
 * Statements without a witness, and content that is gone unasked. Of a follow-up all of its pull request counts, or what
 * was found before would be forgotten; only what the agent did itself, not people.
 */
async function findUntruths(
  { base, overlay, whole, asked = [], evidence, summary = "" }: ReviewInput,
  words: readonly AddedLine[],
  added: Added,
  all: Added,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const entries = whole?.entries ?? overlay.entries();
  const pages = pagesOf(entries, all);
  const { byPeople = pages.map(({ path }) => path) } = whole ?? {};
  const others = pages.filter(({ path }) => !byPeople.includes(path));
  const latest = pagesOf(overlay.entries(), added).filter(({ path }) => !others.some((one) => one.path === path));
  const lost = findLostContent([...others, ...latest], asked, summary);
  const log = evidence?.log ?? null;
  if (!evidence || log === null) return lost;
  const tree = whole?.base ?? base;
  const change = {
    pages: pages.flatMap(({ after, ...page }) => (after === null ? [] : [{ ...page, after }])),
    added: all.lines,
    latest: added.lines,
    words,
    changed: [
      ...entries.map(({ path }) => path),
      ...[...all.before, ...all.files, ...added.before].map(({ text }) => text),
    ],
    holds: async (text: string) =>
      (await tree.search({ pattern: text, kind: "literal", matchesMax: 1 }, signal)).matches.length > 0,
  };
  return [...lost, ...(await findCandidates(change, { ...evidence, log }))];
}

function pagesOf(entries: readonly OverlayEntry[], { before }: Added) {
  const old = new Map(before.map(({ path, text }) => [path, text]));
  return entries
    .filter(({ path }) => kindOf(path) === "document")
    .map(({ path, content }) => ({ path, before: old.get(path) ?? "", after: content?.toString() ?? null }));
}

/** A move that could not follow any link needs a review as much as one that broke links. */
function needsLook({ severity, check }: Finding): boolean {
  return severity === "error" || check === "unfollowed-links";
}

async function compare({ base, overlay, whole, policy, ignore, siteCache }: ReviewInput, signal: AbortSignal) {
  const options = { docsDir: policy.docsDir, ignore, cache: siteCache ?? new Map<string, string>(), signal };
  // Opened one after the other: the second reads from the cache what the first parsed.
  const before = await openSite(siteTreeOf(whole?.base ?? base), options);
  const after = await openSite(siteTreeOf(whole?.head ?? overlay), options);
  return compareSites(before, after);
}

function linesOfWords({ title = "", pullTitle = "", summary = "" }: ReviewInput): readonly AddedLine[] {
  const lines = (path: string, text: string) =>
    text === "" ? [] : text.split(/\r?\n/).map((line, index) => ({ path, line: index + 1, text: line }));
  return [
    ...lines("the title", title),
    ...lines("the pull request's title", pullTitle),
    ...lines("the summary", summary),
  ];
}

function bySeverity(a: Finding, b: Finding): number {
  const rank: Record<Severity, number> = { error: 0, warning: 1, info: 2 };
  return rank[a.severity] - rank[b.severity];
}

/** Characters that a reviewer cannot see, if the change adds more of them than there were. */
function findInvisible(added: Added, linesOfWords: readonly AddedLine[] = []): readonly Finding[] {
  const findings: Finding[] = [];
  const known = new Map<string, boolean>();
  const isNew = (character: string): boolean => {
    const answer = known.get(character) ?? isMoreThanBefore(added, character);
    known.set(character, answer);
    return answer;
  };
  // Those of pages are constructs that a person is asked about.
  for (const line of added.lines) if (isSubtitles(line.path)) findings.push(...findingsIn(line, isNew));
  for (const line of linesOfWords) findings.push(...findingsIn(line, () => true));
  return findings;
}

function isSubtitles(path: string): boolean {
  return /\.(?:svg|vtt|srt)$/i.test(path);
}

function findingsIn({ path, line, text }: AddedLine, isNew: (character: string) => boolean): readonly Finding[] {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const { character, index } of invisibleIn(text)) {
    // A byte order mark at the start of a file is normal, and so are the ends of lines and blanks.
    if ((character === "\ufeff" && line === 1 && index === 0) || /\r|\p{Zs}/u.test(character)) continue;
    if (seen.has(character) || !isNew(character)) continue;
    seen.add(character);
    const message = `the invisible character ${nameOf(character)} was added`;
    findings.push({ check: "invisible-character", severity: "error", path, line, column: index + 1, message });
  }
  return findings;
}

function isMoreThanBefore(added: Added, character: string): boolean {
  const { before, after } = added.count(character);
  return after > before;
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const chunkCharactersMax = 256_000;

/** Credentials in added lines, as written and as rendered. Reports their place and kind, never the value. */
async function findSecrets(
  added: Added,
  linesOfWords: readonly AddedLine[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<readonly Violation[]> {
  const written = [...added.lines, ...linesOfWords];
  let readBefore: readonly string[] | undefined;
  // What a page held may move with its text. It must not be copied.
  const heldBefore = (secret: string) => {
    if (added.heldBefore(secret)) return added.count(secret).after <= added.count(secret).before;
    readBefore ??= added.before.map((file) => asRead(file.text));
    return readBefore.some((text) => text.includes(secret));
  };
  const violations = new Map<string, Violation>();
  for await (const { at, secret, kind } of secretsOf([...written, ...readOtherwise(written)], known, signal)) {
    if (heldBefore(secret)) continue;
    const rule = kind === unsearched ? unsearchedRule : `line ${at.line} contains ${inWords(kind)}`;
    violations.set(`${at.path} ${rule}`, { path: at.path, rule, isSecret: true });
  }
  return [...violations.values()];
}

/** Credentials that the changed pages held before: not this change's fault, but its reviewer should know. */
async function findLeaked(
  files: readonly { path: string; text: string }[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const lines = files.flatMap(({ path, text }) =>
    text.split(/\r?\n/).map((line, index): AddedLine => ({ path, line: index + 1, text: line })),
  );
  const findings = new Map<string, Finding>();
  for await (const { at, kind } of secretsOf(lines, known, signal)) {
    if (kind === unsearched) continue;
    const message = `this page already held ${inWords(kind)}. Revoke it and remove it; Emend did not show it to the model`;
    const place = { path: at.path, line: at.line, column: 1 };
    findings.set(`${at.path} ${at.line}`, { check: "leaked-credential", severity: "warning", ...place, message });
  }
  return [...findings.values()];
}

/** Credentials in file names. The finding does not show the name, because it contains the credential. */
async function findSecretNames(
  base: Tree,
  entries: readonly OverlayEntry[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<readonly Violation[]> {
  const names = entries
    .filter(({ content }) => content !== null)
    .map(({ path }): AddedLine => ({ path, line: 1, text: path }));
  const rules = new Set<string>();
  for await (const { secret, kind } of secretsOf([...names, ...readOtherwise(names)], known, signal)) {
    const there = await base.list();
    if (!there.some(({ path }) => path.includes(secret) || asRead(path).includes(secret))) rules.add(inWords(kind));
  }
  return [...rules].map((words) => ({ path: "a file's name", rule: `it contains ${words}`, isSecret: true }));
}

interface SecretLine {
  at: AddedLine;
  secret: string;
  kind: FoundSecret["kind"];
}

async function* secretsOf(
  lines: readonly AddedLine[],
  known: readonly string[],
  signal: AbortSignal,
): AsyncIterable<SecretLine> {
  for (const chunk of chunks(lines)) {
    signal.throwIfAborted();
    const content = chunk.map((line) => line.text).join("\n");
    for (const { start, end, line, kind } of await secretsIn(content, known).catch(asOne(content))) {
      const at = chunk[line - 1];
      if (at) yield { at, secret: content.slice(start, end), kind };
    }
  }
}

const unsearched = "unsearched";
const unsearchedRule =
  "the added lines could not be searched for secrets: there are too many, or the search takes too long";

/** Content that cannot be scanned counts as one secret of its whole length. */
function asOne(content: string): (error: unknown) => readonly FoundSecret[] {
  return (error) => {
    if (error instanceof UnsearchableText) return [{ start: 0, end: content.length, line: 1, kind: unsearched }];
    throw error;
  };
}

/** The lines whose text differs after a browser or a parser has decoded them. */
function readOtherwise(lines: readonly AddedLine[]): readonly AddedLine[] {
  return lines
    .map((line) => ({ ...line, text: asRead(line.text) }))
    .filter(({ text }, index) => text !== lines[index]?.text);
}

function inWords(kind: string): string {
  if (kind === unsearched) return "too large to search for secrets";
  return kind === "known" ? "a secret of this installation" : `text that looks like a secret (${kind})`;
}

function chunks(lines: readonly AddedLine[]): readonly (readonly AddedLine[])[] {
  const all: AddedLine[][] = [];
  let room = 0;
  for (const line of lines) {
    if (room < line.text.length) {
      all.push([]);
      room = chunkCharactersMax;
    }
    all.at(-1)?.push(line);
    room -= line.text.length + 1;
  }
  return all;
}
