import type { CitedEvidence, Evidence } from "@emend/base/evidence.ts";
import { type PageLine, pageLines, plainText } from "@emend/base/page-lines.ts";
import type { Finding } from "@emend/site";
import type { AddedLine } from "../added-lines.ts";
import { type Fact, factsOfProse, factsOfSample } from "./facts.ts";
import { createWitness, type Witness } from "./witness.ts";

/** Longer lines are data, and patterns must not meet them whole. */
const lineCharactersMax = 4_000;
const findingsMax = 20;

type KnownEvidence = Evidence & { log: NonNullable<Evidence["log"]> };

interface ChangedPage {
  path: string;
  before: string;
  after: string;
}

/**
 * Names, values and addresses on new lines that nothing the job read, was asked or found on the pages witnesses. Where a
 * sentence has a source, its values must be in the cited lines.
 */
export function findUnsupportedFacts(
  pages: readonly ChangedPage[],
  added: readonly AddedLine[],
  evidence: KnownEvidence,
  /** Of a pull request with earlier rounds: the lines of this one. */
  latest: readonly AddedLine[] = added,
): readonly Finding[] {
  const witnesses = openWitnesses(pages, evidence);
  const findings = new Map<string, Finding>();
  const fromLatest = new Set(latest.map(({ path, text }) => `${path}\n${text}`));
  // People write to a pull request, too. What the agent never typed in an earlier round is theirs.
  const isOwn = ({ path, text }: AddedLine, fact: Fact) =>
    fromLatest.has(`${path}\n${text}`) ||
    evidence.log.some((one) => one.kind === "wrote" && one.text.includes(fact.text));
  const report = (path: string, line: number, fact: Fact, why: string) => {
    const key = `${path} ${fact.text}`;
    if (findings.has(key)) return;
    const message = `\`${fact.text.slice(0, 100)}\` ${why}`;
    findings.set(key, { check: "unsupported-fact", severity: "error", path, line, column: 1, message });
  };
  for (const page of pages) {
    const lines = pageLines(page.after);
    const onPage = new Map(added.filter(({ path }) => path === page.path).map((line) => [line.line, line]));
    const proven = new Set<string>();
    for (const { fact, line, cited } of citedFacts(lines, evidence.sources)) {
      const isHeld = witnesses.cited(cited).holds(fact);
      if (isHeld) proven.add(`${line} ${fact.text}`);
      const place = onPage.get(line);
      if (isHeld || !place || !isOwn(place, fact)) continue;
      report(page.path, line, fact, `is not in the cited lines (${cited.map(({ at }) => at).join(", ")})`);
    }
    const counts = countsOf(lines);
    for (const line of lines) {
      const place = onPage.get(line.line);
      if (!place) continue;
      for (const fact of factsOf(line)) {
        if (proven.has(`${line.line} ${fact.text}`)) continue;
        if (fact.unit === undefined && counts.has(fact.number ?? Number.NaN)) continue;
        if (!witnesses.read(fact) && isOwn(place, fact))
          report(page.path, line.line, fact, "is in nothing that was read or asked for");
      }
    }
  }
  return [...findings.values()].slice(0, findingsMax);
}

export function factsOf({ kind, text }: PageLine): readonly Fact[] {
  if (text.length > lineCharactersMax)
    return piecesOf(text).flatMap((piece) => factsOf({ kind, line: 0, text: piece }));
  const line = text;
  if (kind === "sample") return factsOfSample(line);
  if (kind === "prose" || kind === "heading") return factsOfProse(line);
  return kind === "front matter" ? factsOfProse(line.replace(/^\s*[\w-]+:/, "")) : [];
}

/** A long line, divided between words. */
function piecesOf(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${lineCharactersMax}}(?=\\s|$)|[^]{1,${lineCharactersMax}}`, "g")) ?? [];
}

interface Witnesses {
  read(fact: Fact): boolean;
  cited(sources: readonly CitedEvidence[]): Witness;
}

function openWitnesses(pages: readonly ChangedPage[], { asked, log, sources }: KnownEvidence): Witnesses {
  const given = [...asked, ...pages.map(({ before }) => before), ...sources.map(({ text }) => text)];
  const firstWrite = log.findIndex(({ kind }) => kind === "wrote");
  const known = new Map<number, Witness>();
  return {
    // The agent may read its own words again: only what it read before it wrote them counts.
    read(fact) {
      const own = log.findIndex(({ kind, text }) => kind === "wrote" && text.includes(fact.text));
      const until = own === -1 ? firstWrite : own;
      const seen = until === -1 ? log : log.slice(0, until);
      const witness =
        known.get(until) ??
        createWitness([...given, ...seen.flatMap(({ kind, text }) => (kind === "read" ? [text] : []))]);
      known.set(until, witness);
      return witness.holds(fact);
    },
    cited: (cited) => createWitness([...asked, ...cited.map(({ text }) => text)], { derives: true }),
  };
}

/** The values of sentences that have a source, each with the sources of its sentence. */
function citedFacts(lines: readonly PageLine[], sources: readonly CitedEvidence[]) {
  const quoted = sources.map((source) => ({ source, words: plainText(source.supports) }));
  return sentencesOf(lines).flatMap(({ text, line }) => {
    const words = plainText(text);
    const cited = quoted.flatMap(({ source, words: quote }) =>
      quote !== "" && words !== "" && (words.includes(quote) || quote.includes(words)) ? [source] : [],
    );
    if (cited.length === 0) return [];
    return factsOfProse(text.slice(0, lineCharactersMax)).flatMap((fact) => {
      // A name may be known from elsewhere; what is said of it must be where the source says so.
      if (fact.kind !== "value") return [];
      const at = lines.slice(line - 1).find((one) => one.text.includes(fact.text))?.line ?? line;
      return [{ fact, line: at, cited }];
    });
  });
}

/** Each with the line that it begins at. A row and an item end a sentence. */
function sentencesOf(lines: readonly PageLine[]): readonly { text: string; line: number }[] {
  const sentences: { text: string; line: number }[] = [];
  let open: { text: string; line: number } | null = null;
  const close = () => {
    if (open) sentences.push(open);
    open = null;
  };
  for (const { kind, text, line } of lines) {
    if (kind !== "prose") {
      close();
      continue;
    }
    if (/^\s*(?:[-*+|>]|\d+[.)])/.test(text)) close();
    for (const part of text.split(/(?<=[.!?])\s+(?=\S)/)) {
      open = open ? { text: `${open.text} ${part}`, line: open.line } : { text: part, line };
      if (/[.!?]["')\]*_]*$/.test(part)) close();
    }
  }
  close();
  return sentences;
}

/** How many items the lists and rows the tables of a page have: "these 4 flags" counts what follows. */
function countsOf(lines: readonly PageLine[]): ReadonlySet<number> {
  const counts = new Set<number>();
  let [items, rows] = [0, 0];
  for (const { kind, text } of [...lines, { kind: "heading", text: "" }]) {
    const isItem = /^\s*(?:[-*+]|\d+[.)])\s/.test(text);
    const isRow = /^\s*\|/.test(text);
    if (isItem) items += 1;
    else if (kind === "heading") {
      counts.add(items);
      items = 0;
    }
    if (isRow) rows += 1;
    else {
      counts.add(rows - 2);
      rows = 0;
    }
  }
  return counts;
}
