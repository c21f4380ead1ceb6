import type { Finding } from "@emend/site";
import { hostsIn } from "../lib/hosts-in.ts";
import type { Added, AddedLine } from "./added-lines.ts";
import type { KnownHosts } from "./known-hosts.ts";
import type { Violation } from "./review.ts";

/** Each is looked for in the whole repository; nobody reviews more. */
const hostsMax = 500;
/** What a reader's browser fetches without being asked. */
const loads =
  /!\[|<(?:img|iframe|video|audio|source|embed|object|script|link|image|track)\b|\b(?:src|srcset|poster)\s*=|url\(/i;

/** Other sites that the change is the first to point at: refused, unless the project or the person named them. */
export async function findNewHosts(
  added: Added,
  linesOfWords: readonly AddedLine[],
  known: KnownHosts,
  signal: AbortSignal,
): Promise<{ violations: readonly Violation[]; findings: readonly Finding[] }> {
  const violations: Violation[] = [];
  const findings: Finding[] = [];
  const first = firstLines([...added.lines, ...linesOfWords], added.files);
  const unseen = [...first].filter(([host]) => !added.pointedBefore(host));
  if (unseen.length > hostsMax) {
    const rule = `${unseen.length} sites come up, more than the ${hostsMax} that are looked for`;
    return { violations: [{ path: "", rule }], findings };
  }
  for (const [host, line] of unseen) {
    const verdict = await known.judge(host, signal);
    if (verdict === "refused") violations.push(violationOf(host, line));
    if (verdict === "flagged") findings.push(findingOf(host, line));
  }
  return { violations, findings };
}

/** Where each host comes first, a line that loads from it before one that links to it. */
function firstLines(lines: readonly AddedLine[], files: Added["files"]): ReadonlyMap<string, AddedLine> {
  const first = new Map<string, AddedLine>();
  for (const line of lines) {
    for (const host of hostsIn(line.text)) {
      const earlier = first.get(host);
      if (!earlier || (!isLoading(earlier) && isLoading(line))) first.set(host, line);
    }
  }
  // An address may go over several lines, each of which says nothing.
  for (const { path, text } of files) {
    for (const host of hostsIn(text)) {
      if (!first.has(host)) first.set(host, { path, line: 1, text });
    }
  }
  return first;
}

function violationOf(host: string, { path, line }: AddedLine): Violation {
  return { path, rule: `line ${line} points at ${host}, which neither the repository nor the request names` };
}

function findingOf(host: string, line: AddedLine): Finding {
  const isLoaded = isLoading(line);
  return {
    check: "new-domain",
    severity: isLoaded ? "error" : "warning",
    path: line.path,
    line: line.line,
    column: 1,
    message: isLoaded ? `the first image or frame that readers would load from ${host}` : `the first link to ${host}`,
  };
}

function isLoading({ text }: AddedLine): boolean {
  return loads.test(text);
}
