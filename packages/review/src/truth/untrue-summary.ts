import type { CitedEvidence } from "@emend/base/evidence.ts";
import type { Finding } from "@emend/site";
import { kindOf } from "../policy.ts";
import { type Fact, factsOfProse } from "./facts.ts";
import type { Witness } from "./witness.ts";

const pagePath = /(?:[\p{L}\p{N}_.-]+\/)*[\p{L}\p{N}_.-]+\.(?:mdx?|markdown|rst|adoc)(?![\p{L}\p{N}])/gu;

const lineCharactersMax = 4_000;

/**
 * Pages that a summary names although the change has nothing to do with them: it does not touch or name them, and no
 * source is there. What the summary says of them is a matter of language; a reader takes it for a part of the change. And
 * names and values that are neither on a changed page nor in anything that the job read.
 */
export function findUntrueSummary(
  summary: string,
  change: {
    paths: readonly string[];
    lines: readonly string[];
    sources: readonly CitedEvidence[];
    /** Files that no job may change, such as an agent's instructions, are named for other reasons. */
    isRefused?(path: string): boolean;
    /** What was read and asked, and the changed pages. Absent: nobody knows what was read. */
    witness?: Witness;
  },
): readonly Finding[] {
  const known = [...change.paths, ...change.sources.map(({ at }) => at.replace(/:[\d-]+$/, ""))];
  const isKnown = (path: string) =>
    known.some((one) => one === path || one.endsWith(`/${path}`)) ||
    change.lines.some((line) => line.includes(path.replace(/\.\w+$/, "")));
  const findings = new Map<string, Finding>();
  for (const [index, whole] of summary.split("\n").entries()) {
    const line = whole.slice(0, lineCharactersMax);
    const report = (name: string, message: string) => {
      if (findings.has(name)) return;
      const place = { path: "the summary", line: index + 1, column: 1 };
      findings.set(name, { check: "untrue-summary", severity: "error", ...place, message });
    };
    for (const [path] of line.matchAll(pagePath)) {
      if (isKnown(path) || kindOf(path) !== "document" || change.isRefused?.(path)) continue;
      report(path, `it names ${path}, which this change does not touch`);
    }
    for (const fact of factsOfProse(line.replaceAll(pagePath, " "))) {
      if (!isTelling(fact) || (change.witness?.holds(fact) ?? true)) continue;
      report(fact.text, `it says \`${fact.text.slice(0, 100)}\`, which no changed page has and nothing that was read`);
    }
  }
  return [...findings.values()];
}

/** Bare numbers count files and lines in a summary, and a plain word in code marks may be anything. */
function isTelling({ kind, text, number, unit }: Fact): boolean {
  if (number !== undefined) return unit !== undefined;
  return kind !== "name" || /[^a-z]/.test(text);
}
