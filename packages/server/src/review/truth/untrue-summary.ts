import type { Finding } from "@emend/site";
import type { OverlayEntry } from "../../tree/tree.ts";

const changing =
  /\b(?:add|updat|chang|fix|remov|delet|renam|mov|rewr|replac|creat|edit|correct|adjust|expand|extend|revis|writ|introduc)\w*\b/i;
/** Words after which a path is what a sentence compares with, or leaves alone. */
const otherwise =
  /\b(?:not|no|never|nothing|without|already|unchanged|left|from|as|like|see|match\w*|per|in line with|following|because|since|than|links? to|linked|points? to|refer\w*|instead)\b/i;
const pagePath = /`?((?:[\w.-]+\/)*[\w.-]+\.(?:mdx?|markdown|rst|adoc))`?/;

/** A sentence of the summary that says of a page that it was changed, although it was not. */
export function findUntrueSummary(summary: string, entries: readonly OverlayEntry[]): readonly Finding[] {
  const touched = entries.map(({ path }) => path);
  const findings: Finding[] = [];
  for (const [index, line] of summary.split("\n").entries()) {
    for (const sentence of line.slice(0, 2_000).split(/(?<=[.!?;])\s+/)) {
      const found = pagePath.exec(sentence);
      const path = found?.[1];
      if (path === undefined || touched.some((one) => one === path || one.endsWith(`/${path}`))) continue;
      const before = sentence.slice(0, found?.index);
      if (!changing.test(before) || otherwise.test(before)) continue;
      const message = `it says that ${path} was changed, and this change does not touch it`;
      findings.push({
        check: "untrue-summary",
        severity: "error",
        path: "the summary",
        line: index + 1,
        column: 1,
        message,
      });
    }
  }
  return findings;
}
