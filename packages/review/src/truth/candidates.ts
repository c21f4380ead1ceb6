import type { CitedEvidence, Evidence } from "@emend/base/evidence.ts";
import { type PageLine, pageLines, plainText } from "@emend/base/page-lines.ts";
import type { Finding } from "@emend/site";
import type { AddedLine } from "../added-lines.ts";
import { type Fact, factsOfProse, factsOfSample, isTelling } from "./facts.ts";
import { createWitness, hasWord, type Witness } from "./witness.ts";

/** Longer lines are data, and patterns must not meet them whole. */
const lineCharactersMax = 4_000;
const findingsMax = 20;
const searchesMax = 40;

type KnownEvidence = Evidence & { log: NonNullable<Evidence["log"]> };

interface ToldChange {
  pages: readonly { path: string; before: string; after: string }[];
  added: readonly AddedLine[];
  /** Of a pull request with earlier rounds: the lines of this one. */
  latest?: readonly AddedLine[];
  /** Title and summary, line by line. */
  words?: readonly AddedLine[];
  /** Paths and texts of all changed files. */
  changed?: readonly string[];
  /** Whether the repository has this text anywhere. */
  holds?(text: string): Promise<boolean>;
}

/**
 * Names, values and addresses on new lines that nothing which the job read or was asked witnesses. Only a reader knows
 * whether they are wrong. Names of products and addresses that occur nowhere are errors, and so is what the cited lines do not say; the rest are notes.
 */
export async function findCandidates(change: ToldChange, evidence: KnownEvidence): Promise<readonly Finding[]> {
  const { pages, added, latest = added, words = [], changed = [] } = change;
  const witnessOf = openWitnesses(pages, evidence);
  const asked = createWitness(evidence.asked);
  const found = new Map<string, { fact: Fact; finding: Finding; isCited: boolean }>();
  const report = (check: string, { path, line }: AddedLine, fact: Fact, why: string, isCited = false) => {
    const severity = isCited || isTelling(fact) ? "error" : "info";
    const message = `\`${fact.text.slice(0, 100)}\` ${why}`;
    const finding: Finding = { check, severity, path, line, column: 1, message };
    if (!found.has(`${path} ${fact.text}`)) found.set(`${path} ${fact.text}`, { fact, finding, isCited });
  };
  const fromLatest = new Set(latest.map(({ path, text }) => `${path}\n${text}`));
  // People write to a pull request, too. What the agent never typed in an earlier round is theirs.
  const isOwn = ({ path, text }: AddedLine, fact: Fact) =>
    fromLatest.has(`${path}\n${text}`) ||
    evidence.log.some((one) => one.kind === "wrote" && one.text.includes(fact.text));
  const addedTo = Map.groupBy(added, ({ path }) => path);
  for (const page of pages) {
    const lines = withLanguage(pageLines(page.after));
    const onPage = new Map(addedTo.get(page.path)?.map((line) => [line.line, line]));
    const samples = lines.flatMap(({ kind, line, text }) => (kind === "sample" && onPage.has(line) ? [text] : []));
    const isOfSample = ({ kind, text }: Fact) => kind === "name" && samples.some((sample) => hasWord(sample, text));
    for (const line of lines) {
      const place = onPage.get(line.line);
      if (!place) continue;
      for (const { text, fact } of factsIn(line)) {
        if (!isOwn(place, fact)) continue;
        const cited = fact.kind === "name" ? [] : sourcesOf(text, evidence.sources);
        const why = cited.length > 0 && !asked.holds(fact) ? whyNotCited(text, fact, cited) : null;
        if (why) report("unsupported-fact", place, fact, why, true);
        // A number alone counts what follows as often as it is a fact.
        if (cited.length > 0 || (fact.number !== undefined && fact.unit === undefined)) continue;
        if (line.kind !== "sample" && !/^--|^[A-Z\d_]+$/.test(fact.text) && isOfSample(fact)) continue;
        if (!witnessOf(fact).holds(fact))
          report("unsupported-fact", place, fact, "is in nothing that was read or asked for");
      }
    }
  }
  const told = createWitness([...textsOf(evidence), ...changed]);
  for (const place of words) {
    for (const fact of factsOfProse(place.text.slice(0, lineCharactersMax))) {
      // Bare numbers count files and lines in a summary.
      const isChecked = isTelling(fact) || fact.unit !== undefined;
      if (isChecked && !told.holds(fact))
        report("untrue-summary", place, fact, "is on no changed page and was not read");
    }
  }
  const findings: Finding[] = [];
  for (const { fact, finding, isCited } of found.values()) {
    // Each costs a search of the repository.
    const isSearched = finding.severity === "error" && !isCited && findings.length < searchesMax;
    const isKnown = isSearched && (await change.holds?.(fact.text));
    findings.push(isKnown ? { ...finding, severity: "info" } : finding);
  }
  return findings.sort((a, b) => Number(a.severity !== "error") - Number(b.severity !== "error")).slice(0, findingsMax);
}

interface CodeLine extends PageLine {
  /** Of a sample: as its fence says. */
  language: string;
}

function withLanguage(lines: readonly PageLine[]): readonly CodeLine[] {
  let language = "";
  return lines.map((line) => {
    if (line.kind === "fence") language = /^\s*[`~]+\s*\{?\.?([\w-]*)/.exec(line.text)?.[1] ?? "";
    return { ...line, language };
  });
}

/** The facts of a line, each with its sentence. */
function factsIn({ kind, text, language = "" }: PageLine & { language?: string }) {
  const line = kind === "front matter" ? text.replace(/^\s*[\w-]+:/, "") : text;
  if (kind === "fence" || kind === "blank") return [];
  // A long line, divided between words.
  const pieces = line.match(new RegExp(`[^]{1,${lineCharactersMax}}(?=\\s|$)|[^]{1,${lineCharactersMax}}`, "g")) ?? [];
  const sentences = pieces.flatMap((piece) =>
    kind === "sample" ? [piece] : piece.split(/(?<=[.!?]["')\]*_]*)\s+(?=\S)/),
  );
  return sentences.flatMap((sentence) => {
    const facts = kind === "sample" ? factsOfSample(sentence, language) : factsOfProse(sentence);
    return facts.map((fact) => ({ text: sentence, fact }));
  });
}

export function factsOf(line: PageLine): readonly Fact[] {
  return factsIn(line).map(({ fact }) => fact);
}

function textsOf({ asked, log, sources }: KnownEvidence): readonly string[] {
  const read = log.flatMap(({ kind, text }) => (kind === "read" ? [text] : []));
  return [...asked, ...read, ...sources.flatMap(({ at, text }) => [at, text])];
}

/** The agent may read its own words again: only what it read before it wrote them counts. */
function openWitnesses(pages: ToldChange["pages"], evidence: KnownEvidence): (fact: Fact) => Witness {
  const { log } = evidence;
  const firstWrite = log.findIndex(({ kind }) => kind === "wrote");
  const known = new Map<number, Witness>();
  return (fact) => {
    const own = log.findIndex(({ kind, text }) => kind === "wrote" && text.includes(fact.text));
    const until = own === -1 ? firstWrite : own;
    const seen = { ...evidence, log: until === -1 ? log : log.slice(0, until) };
    const witness = known.get(until) ?? createWitness([...textsOf(seen), ...pages.map(({ before }) => before)]);
    known.set(until, witness);
    return witness;
  };
}

function sourcesOf(sentence: string, sources: readonly CitedEvidence[]): readonly CitedEvidence[] {
  const words = plainText(sentence);
  return sources.filter(({ supports }) => {
    const quote = plainText(supports);
    return quote !== "" && words !== "" && (words.includes(quote) || quote.includes(words));
  });
}

/** Name and value are a pair: of cited lines those that name it must have the value. Null: they have. */
function whyNotCited(sentence: string, fact: Fact, cited: readonly CitedEvidence[]): string | null {
  const places = cited.map(({ at }) => at).join(", ");
  if (!createWitness(cited.map(({ text }) => text)).holds(fact)) return `is not in the cited lines (${places})`;
  const before = sentence.slice(0, sentence.indexOf(fact.text));
  const name = [...before.matchAll(/`([^`]+)`/g)].at(-1)?.[1];
  if (name === undefined || fact.number === undefined) return null;
  const naming = cited.flatMap(({ text }) => text.split("\n")).filter((line) => hasWord(line, name) && /\d/.test(line));
  if (naming.length === 0 || createWitness(naming).holds(fact)) return null;
  return `is not what the cited lines (${places}) say of \`${name.slice(0, 100)}\``;
}
