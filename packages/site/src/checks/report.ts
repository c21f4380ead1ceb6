import type { Finding, Severity } from "../types.ts";

/** Formats a page's name for a message. */
export function quoted(text: string): string {
  return `\`${text.length > 120 ? `${text.slice(0, 117)}…` : text}\``;
}

export function toFinding(check: { id: string; severity: Severity }, report: Report): Finding {
  const { path, line, column, message, fix, target, why } = report;
  const severity = report.severity ?? (why === undefined ? check.severity : "warning");
  const finding: Finding = { check: check.id, severity, path, line, column, message };
  if (why !== undefined) return { ...finding, certainty: "likely", why };
  if (fix !== undefined) finding.fix = fix;
  if (target !== undefined) targets.set(finding, target);
  return finding;
}

const targets = new WeakMap<Finding, string>();

/** What a certain finding says to be missing, as it is written. */
export function targetOf(finding: Finding): string | undefined {
  return targets.get(finding);
}

/** With a reason to doubt it, a report is only likely: a warning without a fix. */
export type Report = Omit<Finding, "check" | "severity" | "certainty"> &
  Partial<Pick<Finding, "severity">> & {
    /** What is missing, as it is written, for the second resolver. */
    target?: string;
  };
