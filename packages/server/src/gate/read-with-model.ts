import type { Finding, PageBlock, SourceIndex } from "@emend/site";
import { askAboutChange, type Drift } from "../claims/drift/ask-about-change.ts";
import type { CodeHunk } from "../claims/drift/code-change.ts";
import { type Candidate, confirmAll, passageAt, type Verdict } from "../claims/drift/confirm.ts";
import type { Asker, Problem } from "../claims/drift/reader.ts";
import type { GateFinding } from "./gate-store.ts";

/** A finding as the checks give it, with what the page of a status shows besides. */
export type Judged = Finding &
  Pick<GateFinding, "renamed" | "causes" | "unread" | "claim" | "seen" | "verdict"> & {
    /** The name that a rule misses: a model is asked about it. */
    name?: string;
  };

interface ModelInput {
  /** The docs. */
  blocks: readonly PageBlock[];
  /** The code after the change. */
  after: SourceIndex;
  hunks: readonly CodeHunk[];
  asker: Asker;
}

/**
 * Asks a model about the findings of the rules, each once, and what else the change makes wrong. Without an answer, a
 * finding stays as the rules have it; beyond the limit, it is a warning.
 */
export async function readWithModel(
  { blocks, after, hunks, asker }: ModelInput,
  found: readonly Judged[],
  signal: AbortSignal,
): Promise<readonly Judged[]> {
  const byPage = Map.groupBy(blocks, ({ path }) => path);
  const candidates = new Map<string, Candidate>();
  for (const finding of found) {
    const key = keyOf(finding);
    if (key === null || candidates.has(key)) continue;
    const { path, line, message, causes = [], name = "" } = finding;
    const passage = passageAt(byPage.get(path) ?? [], line);
    candidates.set(key, {
      page: path,
      line,
      message,
      name,
      passage,
      causes,
      elsewhere: after.filesWith(name, 8),
    });
  }
  const verdicts = await confirmAll(asker, [...candidates.values()], hunks, signal);
  const byKey = new Map([...candidates.keys()].map((key, index) => [key, verdicts[index]]));
  const confirmed = found.map((finding) => {
    const key = keyOf(finding);
    return key === null ? finding : withVerdict(finding, byKey.get(key), asker.problem());
  });
  const drift = await askAboutChange(asker, blocks, hunks, signal);
  const isTold = ({ block, line }: Drift) =>
    confirmed.some((one) => one.path === block.path && (one.line === line || one.claim?.text === block.text));
  return [...confirmed, ...drift.filter((one) => !isTold(one)).map(ofDrift)];
}

/** The same name on the same page is one question. Null: no question. What an unread source may have is not asked. */
function keyOf({ name, path, unread }: Judged): string | null {
  return name === undefined || unread !== undefined ? null : `${path} ${name}`;
}

function withVerdict(finding: Judged, given: Verdict | undefined, problem: Problem | null): Judged {
  if (given === undefined) {
    if (problem === null || problem.isPassing) return finding;
    const message = `${finding.message}. ${problem.words}, so this was not confirmed`;
    return { ...finding, severity: "warning", message };
  }
  const { verdict: kind, reason, newName } = given;
  const { certainty: _, renamed, ...rest } = finding;
  const verdict = { kind, reason };
  // A new name is written only where rule and model agree.
  const agreed = renamed && newName === renamed.to ? { renamed } : {};
  switch (kind) {
    case "wrong docs":
      return { ...rest, ...agreed, severity: "error", verdict };
    case "still right":
      return { ...rest, severity: "info", verdict };
    case "cannot tell":
      return { ...rest, severity: "warning", certainty: "likely", verdict };
  }
}

function ofDrift({ kind, block, line, why, hunk }: Drift): Judged {
  const isMissing = kind === "missing";
  const source = `${hunk.path}:${hunk.line}`;
  return {
    check: isMissing ? "missing-text" : "outdated-text",
    severity: isMissing ? "info" : "warning",
    path: block.path,
    line,
    column: 1,
    message: isMissing
      ? `\`${source}\` adds something that the list here lacks`
      : `\`${source}\` changes what this says`,
    verdict: { kind: "wrong docs", reason: why },
    causes: [hunk.path],
    claim: {
      text: block.text,
      source,
      was: hunk.removed.join("\n"),
      now: hunk.added.length === 0 ? null : hunk.added.join("\n"),
    },
  };
}
