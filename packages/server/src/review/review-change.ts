import { compareSites, type Finding, openSite, type Severity } from "@emend/site";
import { siteTreeOf } from "../tree/site-tree.ts";
import { type AddedLine, addedLines } from "./added-lines.ts";
import { findInvisible } from "./find-invisible.ts";
import { findRemovedPages } from "./find-removed-pages.ts";
import { findSecretNames, findSecrets } from "./find-secrets.ts";
import { judgeContent } from "./judge-content.ts";
import { createPageReader } from "./page-reader.ts";
import { violationsOf } from "./policy.ts";
import type { ReviewInput, Verdict } from "./review.ts";

/** Judges a change: what policy forbids and secrets deny it, new findings flag it, the rest passes. */
export async function reviewChange(input: ReviewInput, signal: AbortSignal): Promise<Verdict> {
  const { knownSecrets = [] } = input;
  // First, because every other refusal names the file.
  const names = await findSecretNames(input.base, input.overlay.entries(), knownSecrets, signal);
  if (names.length > 0) return { kind: "denied", violations: names };
  const violations = violationsOf(input.policy, input.overlay.entries());
  if (violations.length > 0) return { kind: "denied", violations };

  const added = await addedLines(input.base, input.overlay.entries());
  const words = linesOfWords(input);
  // A pushed secret cannot be taken back: a draft would be too late.
  const secrets = await findSecrets(added, words, knownSecrets, signal);
  if (secrets.length > 0) return { kind: "denied", violations: secrets };

  // Nor can what a reader's browser has sent: not even to a reviewer's draft.
  const { base, policy, asked = [], contextText = [] } = input;
  const reader = input.pageReader ?? createPageReader();
  const files = input.overlay.entries().map(({ path, content }) => ({ path, text: content?.toString() ?? null }));
  const judging = { base, reader, policy, asked, contextText };
  const content = await judgeContent(judging, files, words, signal);
  if (content.violations.length > 0) return { kind: "denied", violations: content.violations };

  const comparison = await compare(input, signal);
  const all = input.whole ? await addedLines(input.whole.base, input.whole.entries) : added;
  const introduced = [
    ...comparison.introduced,
    ...findInvisible(all, words),
    ...content.findings,
    ...(await findRemovedPages(base, input.overlay.entries(), asked)),
  ].sort(bySeverity);
  return {
    kind: introduced.some(needsLook) ? "flagged" : "passed",
    introduced,
    fixed: comparison.fixed,
    findingsBefore: comparison.before,
    findingsAfter: comparison.after,
    links: { total: comparison.tally.links, unjudged: comparison.tally.unjudged },
  };
}

/** A move that could follow no link is as little ready as one that broke some. */
function needsLook({ severity, check }: Finding): boolean {
  return severity === "error" || check === "unfollowed-links";
}

async function compare({ base, overlay, whole, policy, siteCache }: ReviewInput, signal: AbortSignal) {
  const options = { docsDir: policy.docsDir, cache: siteCache ?? new Map<string, string>(), signal };
  // One after the other: the second takes what the first has parsed from the cache.
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
