import { compareSites, openSite, type ParseCache } from "@emend/site";
import type { CommitStatus } from "../forge/forge.ts";
import { siteTreeOf } from "../tree/site-tree.ts";
import type { Tree } from "../tree/tree.ts";
import type { GateFinding } from "./gate-store.ts";

/** How findings count for a project. */
export type GateLevel = "off" | "neutral" | "failing";

const findingsMax = 500;

/**
 * What the checks find new in a change of the docs. Everything that says how to judge, `.emend/check.json` included, is read
 * from the base: a pull request cannot loosen its own gate.
 */
export async function judgeDocs(
  input: { before: Tree; after: Tree; docsDir: string; cache: ParseCache },
  signal: AbortSignal,
): Promise<readonly GateFinding[]> {
  const options = { docsDir: input.docsDir, cache: input.cache, signal };
  // One after the other: the second takes what the first has parsed from the cache.
  const before = await openSite(siteTreeOf(input.before), options);
  const after = await openSite(siteTreeOf(input.after), options);
  const { introduced } = await compareSites(before, after, { signal });
  return introduced
    .map(({ check, severity, path, line, message }) => ({ check, severity, path, line, message }))
    .sort(worstFirst)
    .slice(0, findingsMax);
}

function worstFirst(left: GateFinding, right: GateFinding): number {
  const rank = { error: 0, warning: 1, info: 2 };
  return (
    rank[left.severity] - rank[right.severity] || left.path.localeCompare(right.path, "en") || left.line - right.line
  );
}

/** What findings come to at a level, in the words that a forge shows. Errors alone fail; the rest is for information. */
export function verdictOf(
  findings: readonly GateFinding[],
  level: GateLevel,
  isDocs: boolean,
): { state: CommitStatus["state"]; words: string } {
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length === 0) {
    const words = isDocs ? "No new problems in the docs." : "No page names what this changes.";
    return { state: "passed", words: findings.length === 0 ? words : `${words} ${count(findings.length, "note")}.` };
  }
  const pages = new Set(errors.map(({ path }) => path)).size;
  const found = isDocs
    ? `${count(errors.length, "new problem")} on ${count(pages, "page")}.`
    : `${count(pages, "page")} ${pages === 1 ? "names" : "name"} what this removes or renames.`;
  return level === "failing"
    ? { state: "failed", words: found }
    : { state: "neutral", words: `Not blocking: ${found}` };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
