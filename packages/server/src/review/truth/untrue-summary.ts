import type { Finding } from "@emend/site";
import type { CitedEvidence } from "../../lib/evidence.ts";
import { kindOf } from "../policy.ts";

const pagePath = /(?:[\p{L}\p{N}_.-]+\/)*[\p{L}\p{N}_.-]+\.(?:mdx?|markdown|rst|adoc)(?![\p{L}\p{N}])/gu;

/**
 * Pages that a summary names although the change has nothing to do with them: it does not touch or name them, and no
 * source is there. What the summary says of them is a matter of language; a reader takes it for a part of the change.
 */
export function findUntrueSummary(
  summary: string,
  change: {
    paths: readonly string[];
    lines: readonly string[];
    sources: readonly CitedEvidence[];
    /** Files that no job may change, such as an agent's instructions, are named for other reasons. */
    isRefused?(path: string): boolean;
  },
): readonly Finding[] {
  const known = [...change.paths, ...change.sources.map(({ at }) => at.replace(/:[\d-]+$/, ""))];
  const isKnown = (path: string) =>
    known.some((one) => one === path || one.endsWith(`/${path}`)) ||
    change.lines.some((line) => line.includes(path.replace(/\.\w+$/, "")));
  const findings = new Map<string, Finding>();
  for (const [index, line] of summary.split("\n").entries()) {
    for (const [path] of line.slice(0, 4_000).matchAll(pagePath)) {
      if (isKnown(path) || findings.has(path) || kindOf(path) !== "document" || change.isRefused?.(path)) continue;
      const message = `it names ${path}, which this change does not touch`;
      const place = { path: "the summary", line: index + 1, column: 1 };
      findings.set(path, { check: "untrue-summary", severity: "error", ...place, message });
    }
  }
  return [...findings.values()];
}
